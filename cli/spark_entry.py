"""Print the file for spark-submit: spark-submit [OPTIONS] $(streamjoin spark entry) verify|stream ..."""

import argparse
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(_: argparse.Namespace) -> int:
    print(Path(__file__).with_name("spark_submit.py"))
    return 0
