"""The command ``streamjoin``.

Exit status: 0 all well; 1 a result differs from the reference, or a design misbehaves; 2 wrong usage or bad input, in
one sentence and without a traceback.
"""

import argparse
import io
import sys
from importlib.metadata import version

from streamjoin.cli import board, cocotb, designs, reproduce, sim, spark, sweep, synth, verilog
from streamjoin.cli.errors import guarded
from streamjoin.reference.wording import one_sentence

COMMANDS = {
    "designs": designs,
    "verilog": verilog,
    "sim": sim,
    "cocotb": cocotb,
    "board": board,
    "synth": synth,
    "sweep": sweep,
    "reproduce": reproduce,
    "spark": spark,
}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with a call in one sentence, as all else that is wrong."""

    def error(self, message: str):
        self.exit(2, one_sentence(f"streamjoin: {message}: see {self.prog} --help") + "\n")


def main(words: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = _Parser(
        prog="streamjoin", description="Window-based stream joins in hardware: simulate them, check them, get Verilog."
    )
    parser.add_argument("--version", action="version", version=f"streamjoin {version('streamjoin')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        summary = command.__doc__.partition("\n")[0]
        command.add_arguments(commands.add_parser(name, help=summary, description=summary))
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a file's name may hold what has no characters
    arguments = parser.parse_args(words)
    return guarded(lambda: COMMANDS[arguments.command].run(arguments))


if __name__ == "__main__":
    sys.exit(main())
