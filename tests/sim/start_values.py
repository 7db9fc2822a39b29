"""Verilog that says nothing of what memories hold at the start, as a chip does not."""

import dataclasses
import re

from streamjoin.sim.verilog import Verilog

_ZEROS = re.compile(r"^  integer (\w+);\n  initial for \(\1 = 0; .*\n", re.MULTILINE)


def without_start_values(verilog: Verilog) -> Verilog:
    """The same design, its memories undefined; its registers start as they did."""
    return dataclasses.replace(verilog, text=_ZEROS.sub("", verilog.text))
