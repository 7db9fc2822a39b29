"""Verilog for every simulator: combinational blocks that run once at the start, whatever rules they are read by.

An ``always @*`` block runs when something that it reads changes. By Verilog's rules of 2005 the start value of a
declaration is such a change; by SystemVerilog's it is not. A block whose inputs keep their start values would then
never run, and what it drives would stay undefined. So every block here also reads a trigger, which gets its value by a
non-blocking assignment: that takes effect after all blocks have begun to wait, by either rules. What is assigned
without any condition needs no block at all, unless other bits of the same register do.
"""

import re
from collections import defaultdict

#: Read by every combinational block; nothing else reads it.
TRIGGER = r"\$start "
_MODULE_END = "endmodule\n"
_HEAD = re.compile(r"^module [^;]*;\n", re.MULTILINE)
# Yosys' own trigger, which has its value by declaration, and so does not do for SystemVerilog.
_YOSYS_TRIGGER = re.compile(r"^    if \((?P<name>\\\S+ )\) begin end\n", re.MULTILINE)
_UNCONDITIONAL = re.compile(
    r"^  always @\*\n    (?P<register>\w+|\\\S+ )(?P<bits>\[\S+\])? *= (?P<value>.*;)\n", re.MULTILINE
)
_BLOCK_BEGIN = f"  always @* begin\n    if ({TRIGGER}) begin end\n"


def started(verilog: str) -> str:
    """The same modules, with a trigger in each combinational block, and plain assignments where no block is needed."""
    return _MODULE_END.join(_start(module) for module in verilog.split(_MODULE_END))


def _start(module: str) -> str:
    module = _assigned(module)
    triggers = set(_YOSYS_TRIGGER.findall(module))
    for name in triggers:
        module = re.sub(rf"^  reg {re.escape(name)} = 0;\n", "", module, flags=re.MULTILINE)
        module = module.replace(name, TRIGGER)
    if TRIGGER not in module:
        return module
    return _HEAD.sub(lambda head: f"{head[0]}  reg {TRIGGER};\n  initial {TRIGGER}<= 0;\n", module, count=1)


def _assigned(module: str) -> str:
    """Unconditional assignments as such; those to bits of a register whose other bits have conditions, in one block."""
    parts: dict[str, list[str]] = defaultdict(list)
    for found in _UNCONDITIONAL.finditer(module):
        parts[found["register"]].append(f"{found['register']}{found['bits'] or ''} = {found['value']}\n")
    module = _UNCONDITIONAL.sub("", module)
    added = []
    for register, assignments in parts.items():
        target = re.compile(rf"^ +{re.escape(register)}(?:\[\S+\])? *<?= ", re.MULTILINE)
        if target.search(module):
            added.append(_BLOCK_BEGIN + "".join(f"    {each}" for each in assignments) + "  end\n")
        else:
            module = re.sub(rf"^  reg ((?:\[\S+\] )?{re.escape(register)};)$", r"  wire \1", module, flags=re.MULTILINE)
            added.append("".join(f"  assign {each}" for each in assignments))
    return module + "".join(added)
