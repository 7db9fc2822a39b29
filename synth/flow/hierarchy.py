"""Which part of a design a cell of its flat netlist belongs to."""

import re

from streamjoin.synth.flow.netlist import TOP

#: The kind of what is around the design.
HARNESS = "harness"
_MODULE = re.compile(r"^module (\w+)\(.*?^endmodule", re.MULTILINE | re.DOTALL)
_INSTANCE = re.compile(r"^  (\w+) \\?([^\s(]+) \($", re.MULTILINE)
_COPY = re.compile(r"_\d+$")
# Words that classes' names have in capitals, and modules' names have not.
_SPELT = {"fifo": "FIFO"}


class Hierarchy:
    """Which part of a design a cell of its flat netlist belongs to, read from the hierarchical Verilog."""

    def __init__(self, verilog: str, kind: str):
        self._kinds: dict[tuple[str, ...], str] = {(): kind}
        self._children = {match[1]: _INSTANCE.findall(match[0]) for match in _MODULE.finditer(verilog)}
        (root,) = (module for module, name in self._children[TOP] if name == "dut")
        self._descend(root, ())

    def _descend(self, module: str, path: tuple[str, ...]) -> None:
        for child, name in self._children.get(module, ()):
            # A submodule that is no part of its own, such as a library's FIFO, has its parent's name within its own.
            if child != f"{module}_{name}":
                self._kinds[*path, name] = _kind(child)
            self._descend(child, (*path, name))

    def part_of(self, cell: str) -> tuple[str, str]:
        """Place and kind of the part that holds a cell."""
        first, *words = cell.split(".")
        if first != "dut":
            return "", HARNESS
        for length in range(len(words), -1, -1):
            if kind := self._kinds.get(tuple(words[:length])):
                return ".".join(words[:length]), kind
        raise AssertionError("the empty path is always there")


def _kind(module: str) -> str:
    words = _COPY.sub("", module.removeprefix(f"{TOP}_")).split("_")
    return "".join(_SPELT.get(word, word.capitalize()) for word in words)
