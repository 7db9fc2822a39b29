"""Registered trees that carry control to all cores and back, so that no wire reaches every core in one cycle."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.part import Part


def tree_depth(leaves: int, radix: int) -> int:
    """Registers on the way between the root and any leaf: at least one, whatever the number of leaves."""
    if leaves < 1:
        raise ValueError(f"a control tree needs at least one leaf, not {leaves}")
    if radix < 2:
        raise ValueError(f"a control tree must branch at least in two, not {radix}")
    depth = 1
    while radix**depth < leaves:
        depth += 1
    return depth


class FanOut(Part):
    """Hands ``i`` to every leaf, to all in the same cycle, ``tree_depth(leaves, radix)`` cycles later.

    No register drives more than ``radix`` others, so adding leaves adds cycles, never load.
    """

    def __init__(self, shape, leaves: int, *, radix: int = 4):
        self.depth = tree_depth(leaves, radix)
        self._radix = radix
        self._shape = shape
        super().__init__({"i": In(shape), "o": Out(shape).array(leaves)})

    def elaborate(self, platform):
        m = Module()
        parents = [self.i]
        for level in range(1, self.depth + 1):
            count = -(-len(self.o) // self._radix ** (self.depth - level))
            children = [Signal(self._shape, name=f"level{level}_{n}") for n in range(count)]
            m.d.sync += [child.eq(parents[n // self._radix]) for n, child in enumerate(children)]
            parents = children
        m.d.comb += [leaf.eq(register) for leaf, register in zip(self.o, parents, strict=True)]
        return m


class FanIn(Part):
    """``o`` says whether any bit of ``i`` was up, ``tree_depth(leaves, radix)`` cycles ago.

    Every bit takes the same number of cycles: the answer is about one and the same moment for all leaves.
    """

    def __init__(self, leaves: int, *, radix: int = 4):
        self.depth = tree_depth(leaves, radix)
        self._radix = radix
        super().__init__({"i": In(leaves), "o": Out(1)})

    def elaborate(self, platform):
        m = Module()
        level = self.i
        for depth in range(self.depth):
            groups = [level[n : n + self._radix] for n in range(0, len(level), self._radix)]
            registers = Signal(len(groups), name=f"level{depth}")
            m.d.sync += registers.eq(Cat(group.any() for group in groups))
            level = registers
        m.d.comb += self.o.eq(level)
        return m
