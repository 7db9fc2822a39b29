"""The same runs on Spark: many simulators side by side, or a stream that survives being killed."""

import argparse
from importlib.util import find_spec

from streamjoin.cli import spark_entry, spark_stream, spark_verify
from streamjoin.spark_driver.errors import SparkError

_COMMANDS = {"verify": spark_verify, "stream": spark_stream, "entry": spark_entry}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="spark_command", required=True, metavar="|".join(_COMMANDS))
    for name, command in _COMMANDS.items():
        summary = (command.__doc__ or "").partition("\n")[0]
        command.add_arguments(commands.add_parser(name, help=summary, description=summary))


def run(arguments: argparse.Namespace) -> int:
    if find_spec("pyspark") is None:
        raise SparkError("Spark is not installed: run pip install 'streamjoin[spark]'")
    return _COMMANDS[arguments.spark_command].run(arguments)
