"""RTLIL for people: no names that nothing uses, and ports in the order in which one would list them.

Amaranth gives each net one name and emits all its other names, and the fields of every structure, as further wires
that nothing reads: nine of ten lines of a module's declarations, and as many warnings from a linter. In waves they
help; in Verilog they are in the way.
"""

import re
from collections import Counter
from collections.abc import Sequence

_MODULE_END = "\nend\n"
_NAME = re.compile(r"\\\S+")
# What is no use of a wire: names of cells and of their ports, parameters and attributes.
_NO_USE = re.compile(r"^ +connect \S+|^ +(?:cell|parameter|attribute|wire) .*", re.MULTILINE)
_ALIAS = re.compile(r"^connect (\\\S+) .*\n", re.MULTILINE)
_WIRE = re.compile(r"(?:^ +attribute .*\n)*^  wire width \d+ (\\\S+)\n\n?", re.MULTILINE)
_EMPTY_WIRE = re.compile(r"(?:^ +attribute .*\n)*^  wire width 0 .*\n\n?", re.MULTILINE)
# Nothing but a wire of no bits is connected to nothing.
_EMPTY_CONNECTION = re.compile(r"^connect \\\S+ \{ +\}\n", re.MULTILINE)
# An operator, or a register, that computes nothing.
_EMPTY_CELL = re.compile(
    r"^  cell \$.*\n(?:    .*\n)*?    parameter \\(?:Y_)?WIDTH 0\n(?:    .*\n)*?  end\n\n?", re.MULTILINE
)
_INSTANCE = re.compile(r"^  cell \\.*\n(?:    .*\n)*", re.MULTILINE)
_EMPTY_PIN = re.compile(r"^    connect \\\S+ \{ +\}\n", re.MULTILINE)
_PORT = re.compile(r"^(  wire width \d+ )(input|output|inout) (\d+)  ?\\(\S+)$", re.MULTILINE)


def without_empty_wires(source: str) -> str:
    """The same modules without wires and ports of no bits: Verilog cannot express these, and would make two bits of
    each."""
    for nothing in (_EMPTY_WIRE, _EMPTY_CONNECTION, _EMPTY_CELL):
        source = nothing.sub("", source)
    return _INSTANCE.sub(lambda instance: _EMPTY_PIN.sub("", instance[0]), source)


def without_aliases(source: str) -> str:
    """The same modules without the wires that are only further names of other nets."""
    return _MODULE_END.join(_strip(module) for module in source.split(_MODULE_END))


def with_ports_in_order(source: str, first: Sequence[str]) -> str:
    """The same modules, their ports numbered anew: in the first module as ``first`` says, in all others the clock and
    the reset before the rest."""
    modules = source.split(_MODULE_END)
    orders = [first, *[("clk", "rst")] * (len(modules) - 1)]
    return _MODULE_END.join(_renumber(*pair) for pair in zip(modules, orders, strict=True))


def _strip(module: str) -> str:
    ports = {f"\\{port[4]}" for port in _PORT.finditer(module)}
    uses = Counter(_NAME.findall(_NO_USE.sub("", module)))
    # Once: where it is given its value.
    unused = {alias[1] for alias in _ALIAS.finditer(module) if uses[alias[1]] == 1} - ports
    module = _ALIAS.sub(lambda alias: "" if alias[1] in unused else alias[0], module)
    return _WIRE.sub(lambda wire: "" if wire[1] in unused else wire[0], module)


def _renumber(module: str, order: Sequence[str]) -> str:
    ports = sorted(_PORT.findall(module), key=lambda port: int(port[2]))
    names = [name for *_, name in ports]
    ordered = [name for name in order if name in names]
    ordered += [name for name in names if name not in ordered]
    # From 1: to Yosys, number 0 is no port.
    numbers = {name: number for number, name in enumerate(ordered, 1)}
    return _PORT.sub(lambda port: f"{port[1]}{port[2]} {numbers[port[4]]} \\{port[4]}", module)
