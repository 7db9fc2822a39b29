"""Arguments that the commands on Spark share."""

import argparse

from streamjoin.spark_driver.errors import SparkError


def add_session(parser: argparse.ArgumentParser) -> None:
    """--master and --conf."""
    parser.add_argument(
        "--master",
        default="local[*]",
        metavar="M",
        help="local[N] (default local[*]), spark://HOST:PORT, …; under spark-submit, its own",
    )
    parser.add_argument(
        "--conf", action="append", default=[], metavar="NAME=VALUE", help="a setting of Spark; may be repeated"
    )


def settings(arguments: argparse.Namespace) -> dict[str, str]:
    """The settings that --conf gives."""
    given = {}
    for text in arguments.conf:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise SparkError(f"--conf takes NAME=VALUE, not {text!r}")
        given[name] = value
    return given
