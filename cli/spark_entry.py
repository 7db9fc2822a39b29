"""Print the file for spark-submit: spark-submit [OPTIONS] $(streamjoin spark entry) verify|stream ..."""

import argparse
import sys
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(_: argparse.Namespace) -> int:
    print(__file__)
    return 0


def submitted() -> int:
    """What spark-submit runs: the commands on Spark, on the master that it was told."""
    # Python looks beside this file first, where modules of the command line would hide others of the same name.
    sys.path[:] = [folder for folder in sys.path if Path(folder) != Path(__file__).parent]
    from streamjoin.cli.main import main

    return main(["spark", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(submitted())
