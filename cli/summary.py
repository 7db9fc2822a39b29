"""The option ``--json``: figures for programs, in a file or instead of words."""

import argparse
import json

from streamjoin.support.files import check_writable, whole_file

_SCREEN = "-"


def add_argument(parser: argparse.ArgumentParser, meaning: str = "write the summary") -> None:
    parser.add_argument("--json", metavar="FILE|-", help=meaning)


def check(arguments: argparse.Namespace) -> None:
    """InputError before any work is done if the file cannot be written."""
    if arguments.json not in (None, _SCREEN):
        check_writable(arguments.json)


def is_quiet(arguments: argparse.Namespace) -> bool:
    """Whether the screen is for JSON, and words would spoil it."""
    return arguments.json == _SCREEN


def tell(arguments: argparse.Namespace, summary: dict | list, words: str) -> None:
    """The summary as the user wants it: JSON on the screen, or words there and JSON in a file if one was named."""
    text = json.dumps(summary, indent=2)
    if is_quiet(arguments):
        print(text)
        return
    if arguments.json:
        with whole_file(arguments.json) as path:
            path.write_text(text + "\n")
    if words:
        print(words)
