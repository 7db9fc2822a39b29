"""The command ``streamjoin``.

Exit status: 0 all well; 1 a result differs from the reference, or a design misbehaves; 2 wrong usage or bad input, in
one sentence and without a traceback.
"""

import argparse
import io
import os
import sys
from importlib import import_module
from types import ModuleType

import streamjoin
from streamjoin.reference.wording import listed, one_sentence, shown

#: Each command, a module of this package, and what its docstring begins with: only the one that is wanted is loaded.
COMMANDS = {
    "designs": "List every design, or one, with its parameters, their defaults and meaning.",
    "verilog": "Write a design as Verilog, with its manifest beside it.",
    "sim": "Simulate a design cycle by cycle and check its result against the reference.",
    "cocotb": "Run the cocotb benches on a design with these parameters.",
    "board": "Put a design that tests itself on a board: a project for its tools, and a bitstream where they are here.",
    "synth": "Measure what a design costs on a device: area, clock, and the path that limits it.",
    "sweep": "Measure a design over a grid of parameters: a folder with CSV, JSON, plots and one page.",
    "reproduce": "Measure the papers' figures and tables anew: what they claim beside what we find, with a verdict.",
    "spark": "The same runs on Spark: many simulators side by side, or a stream that survives being killed.",
}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with a call in one sentence, as all else that is wrong."""

    def error(self, message: str):
        help_ = "" if message.endswith("?") else f": see {self.prog} --help"
        self.exit(2, one_sentence(f"streamjoin: {message}{help_}") + "\n")


class _Version(argparse.Action):
    """Asks for the version only when somebody wants to know it."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, nargs=0, help="show the version and end", **kwargs)

    def __call__(self, parser, *_) -> None:
        print(f"streamjoin {streamjoin.__version__}")
        parser.exit()


def main(words: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    words = sys.argv[1:] if words is None else words
    completing = "_ARGCOMPLETE" in os.environ
    parser, command = _parser(os.environ.get("COMP_LINE", "").split()[1:] if completing else words)
    if completing:
        from streamjoin.cli.completion import complete

        complete(parser)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a file's name may hold what has no characters
    arguments = parser.parse_args(words)
    # What can go wrong is known to all that a command may load.
    from streamjoin.cli.errors import guarded

    assert command is not None  # the parser asks for one
    return guarded(lambda: command.run(arguments))


def _parser(words: list[str]) -> tuple[_Parser, ModuleType | None]:
    """What reads these words, and the command that is among them; of the others it knows no more than their names."""
    parser = _Parser(
        prog="streamjoin", description="Window-based stream joins in hardware: simulate them, check them, get Verilog."
    )
    parser.add_argument("--version", action=_Version)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    wanted = next((word for word in words if not word.startswith("-")), None)
    command = None
    for name, summary in COMMANDS.items():
        known = commands.add_parser(name, help=summary, description=summary)
        if name == wanted:
            command = import_module(f"streamjoin.cli.{name}")
            command.add_arguments(known)
    if wanted is not None and command is None and "_ARGCOMPLETE" not in os.environ:
        parser.error(f"there is no command {shown(wanted)}; there are {listed(COMMANDS, wanted)}")
    return parser, command


if __name__ == "__main__":
    sys.exit(main())
