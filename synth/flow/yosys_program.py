"""The library Yosys as a program: as much of its command line as Amaranth's board flows use.

``python -m streamjoin.synth.flow.yosys_program [-V] [-q] [-l LOG] SCRIPT``, where SCRIPT may be ``-``. It runs at the
speed of native code, where a Yosys for WebAssembly would first be compiled for minutes.
"""

import argparse
import os
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from pyosys import libyosys


def main(words: list[str] | None = None) -> int:
    """Run a script of Yosys passes; what they write to no file goes to the standard output."""
    parser = argparse.ArgumentParser(prog="yosys")
    parser.add_argument("-V", dest="version", action="store_true")
    parser.add_argument("-q", dest="quiet", action="store_true")
    parser.add_argument("-l", dest="log")
    parser.add_argument("script", nargs="?")
    arguments = parser.parse_args(words)
    if arguments.version:
        print(f"Yosys {version('pyosys')} (pyosys)")
        return 0
    if arguments.script is None:
        parser.error("give a script")
    tee = ["tee", *(["-q"] if arguments.quiet else []), *(["-o", arguments.log] if arguments.log else [])]
    with tempfile.TemporaryDirectory() as folder:
        script = arguments.script
        if script == "-":
            # Yosys takes no name with a space here, and a temporary folder may have one.
            os.chdir(folder)
            script = "script.ys"
            Path(script).write_text(sys.stdin.read())
        libyosys.Design().run_pass(" ".join([*tee, "script", script]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
