"""Yosys in a process of its own: ``python -m streamjoin.synth.flow.yosys_process SCRIPT``, passes one a line.

A crash of the library takes nothing else with it, an interrupt ends it at once, and its memory goes back to the
system. It says nothing but in its log.
"""

import sys
from pathlib import Path

from pyosys import libyosys

#: Where the passes tell what they do, in the folder that Yosys runs in.
LOG = "yosys.log"


def run(script: Path) -> None:
    design = libyosys.Design()
    for command in script.read_text().splitlines():
        design.run_pass(f"tee -q -a {LOG} {command}")


if __name__ == "__main__":
    run(Path(sys.argv[1]))
