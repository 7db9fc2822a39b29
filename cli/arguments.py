"""Arguments that several commands share, and how they become parameters."""

import argparse
from pathlib import Path

from streamjoin.cli import completion
from streamjoin.configured import Join, join
from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.reference.wording import printable, shown
from streamjoin.reference.written_numbers import HOW, whole_number


def add_design(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """DESIGN, -p NAME=VALUE and --predicate."""
    add_design_name(parser, required=required)
    parameter = parser.add_argument(
        "-p",
        dest="parameters",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="set a parameter; window=W sets all windows, span=T (or span_r, span_s) makes them time-based, "
        f"preset=NAME takes a preset, and what is given beside it wins; {HOW}",
    )
    completion.completed(parameter, completion.parameters)
    predicate = parser.add_argument(
        "--predicate",
        metavar="P",
        help="equi (default), band:EPS, ne, lt, …, or one's own: module:function, path/file.py:function, "
        "or a condition such as 'r.key - s.key <= 3'",
    )
    completion.completed(predicate, completion.predicates)


def add_design_name(parser: argparse.ArgumentParser, *, required: bool = True) -> None:
    """DESIGN alone."""
    name = parser.add_argument(
        "design",
        nargs=None if required else "?",
        metavar="DESIGN",
        help="a design's name; 'streamjoin designs' lists them; or module:NAME",
    )
    completion.completed(name, completion.design_names)


def add_allow_overflows(parser: argparse.ArgumentParser) -> None:
    """--allow-overflows."""
    parser.add_argument(
        "--allow-overflows",
        action="store_true",
        help="status 0 even if results are missing because time-based windows have no room for their spans",
    )


def read_join(arguments: argparse.Namespace) -> Join:
    """The join that the arguments name."""
    given = {}
    for text in arguments.parameters:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ParameterError(f"-p takes NAME=VALUE, not {shown(text)}")
        if name in given:
            raise ParameterError(f"-p {printable(name, 40)} is given twice: give it once")
        given[name] = value
    if arguments.predicate is not None:
        if "predicate" in given:
            raise ParameterError("the predicate is given twice: use --predicate alone")
        given["predicate"] = arguments.predicate
    return join(arguments.design, **given)


def read_design(arguments: argparse.Namespace) -> tuple[Design, JoinParameters]:
    """The design and the parameters that the arguments name."""
    named = read_join(arguments)
    return named.design, named.parameters


def whole(least: int, most: int = 1 << 59):
    """A type for arguments that are whole numbers from ``least`` up; no memory holds more than the most."""

    def read(text: str) -> int:
        try:
            value = whole_number(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"must be a whole number from {least} up, not {shown(text)}")
        if value > most:
            raise argparse.ArgumentTypeError(f"must be at most {most}, not {shown(text)}")
        return value

    return read


def share(text: str) -> float:
    """A type for arguments that are probabilities."""
    try:
        value = float(text) if text.isascii() else -1.0
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must lie between 0 and 1, not {shown(text)}")
    return value


def file_of(*suffixes: str):
    """A type for arguments that are files with one of these suffixes."""

    def read(text: str) -> Path:
        path = Path(text)
        if path.suffix not in suffixes:
            raise argparse.ArgumentTypeError(f"must end in {' or '.join(suffixes)}, not {shown(text)}")
        return path

    return read


def on_record(folder: Path) -> str:
    """A folder as a record names it: of a path from the root, which only this machine has, the last name."""
    return folder.name if folder.is_absolute() else str(folder)
