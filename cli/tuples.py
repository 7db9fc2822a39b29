"""The tuples that commands run: read from a file, or generated."""

import argparse
from pathlib import Path

from streamjoin.cli.arguments import share, whole
from streamjoin.sim.tuples.workload import ARRIVALS, KEYS
from streamjoin.support.files import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """--input, or --tuples and how they are generated."""
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--input",
        type=Path,
        metavar="FILE",
        help="tuples in arrival order: .csv, .csv.gz or .parquet; - for CSV from standard input",
    )
    source.add_argument("--tuples", type=whole(0), metavar="N", help="generate so many tuples")
    add_generated(parser)


def add_generated(parser: argparse.ArgumentParser) -> None:
    """How tuples are generated."""
    generated = parser.add_argument_group("generated tuples")
    generated.add_argument("--match-rate", type=share, metavar="X", help="probability that two tuples match")
    generated.add_argument(
        "--seed", type=whole(0, (1 << 64) - 1), metavar="K", help="other seeds give other tuples (default 0)"
    )
    generated.add_argument("--arrivals", choices=ARRIVALS, help="(default alternating)")
    generated.add_argument("--keys", choices=KEYS, help="how often each key comes (default uniform)")


def check(arguments: argparse.Namespace) -> None:
    """InputError before any work is done if the options do not go together."""
    for name in ("match_rate", "arrivals", "keys"):
        if arguments.input and getattr(arguments, name) is not None:
            raise InputError(f"--{name.replace('_', '-')} goes with --tuples, not with --input: leave it out")


def generated(arguments: argparse.Namespace) -> dict:
    """How tuples are generated, by the names that :func:`streamjoin.sim.run.feed.workload` has for it."""
    how = {name: getattr(arguments, name) for name in ("match_rate", "arrivals", "keys")}
    return how | {"seed": arguments.seed or 0}


def nothing_matched(arguments: argparse.Namespace, summary: dict) -> list[str]:
    """A line for a run without results that should have none, with what would help; no line for any other."""
    if summary["results"] or not summary["tuples"] or summary["check"] not in ("exact", "skipped"):
        return []
    if getattr(arguments, "input", None):
        advice = "check the keys of both streams, the predicate and the windows"
    elif arguments.match_rate is None:
        # Not every predicate has keys that match at a given rate, but few keys help all of them.
        advice = "--match-rate X makes tuples match with that probability, a smaller key_width more often"
    elif arguments.match_rate == 0:
        advice = "as --match-rate 0 asks for"
    else:
        advice = "raise --match-rate, --tuples or the windows"
    return [f"  nothing matched: 0 results ({advice})"]
