"""The command ``streamjoin``.

Exit status: 0 all well; 1 a result differs from the reference, or a design misbehaves; 2 wrong usage or bad input, in
one sentence and without a traceback.
"""

import argparse
import os
import sys
from importlib.metadata import version

from streamjoin.cli import cocotb, designs, sim, verilog
from streamjoin.hdl.parameters import ParameterError
from streamjoin.sim.cache import CacheError
from streamjoin.sim.files import InputError
from streamjoin.sim.model import DesignError
from streamjoin.sim.toolchain import ToolError

COMMANDS = {"designs": designs, "verilog": verilog, "sim": sim, "cocotb": cocotb}


def main(words: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(
        prog="streamjoin", description="Window-based stream joins in hardware: simulate them, check them, get Verilog."
    )
    parser.add_argument("--version", action="version", version=f"streamjoin {version('streamjoin')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, command in COMMANDS.items():
        summary = command.__doc__.partition("\n")[0]
        command.add_arguments(commands.add_parser(name, help=summary, description=summary))
    arguments = parser.parse_args(words)
    try:
        return COMMANDS[arguments.command].run(arguments)
    except (ParameterError, InputError, ToolError, CacheError) as error:
        print(f"streamjoin: {error}", file=sys.stderr)
        return 2
    except DesignError as error:
        print(f"streamjoin: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read our output has seen enough; let the interpreter not complain when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("streamjoin: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
