"""Registered trees that carry control to all cores and back, so that no wire reaches every core in one cycle."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part


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


class Relay(Part):
    """A register: ``o`` is what ``i`` was one cycle before.

    It stands for itself: synthesis would find that all registers with the same input are one, and a tree made to share
    the load would fall together into a single wire to everywhere. It has no reset, being on the way of one, unless
    ``resets`` says so.

    Members
    -------
    i, o
        In and out.
    """

    kept = True

    def __init__(self, shape, *, resets: bool = False):
        self._resets = resets
        super().__init__({"i": In(shape), "o": Out(shape)})

    def elaborate(self, platform):
        m = Module()
        register = Signal.like(self.o, reset_less=not self._resets)
        m.d.sync += register.eq(self.i)
        m.d.comb += self.o.eq(register)
        return m


class FanOut(Part):
    """Hands ``i`` to every leaf, to all in the same cycle, ``tree_depth(leaves, radix)`` cycles later.

    No register drives more than ``radix`` others, so adding leaves adds cycles, never load. A reset does not clear
    what is on its way.

    Members
    -------
    i, o
        The root, and a port for each leaf.
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
            relays = [Relay(self._shape) for _ in range(count)]
            for n, relay in enumerate(relays):
                m.submodules[f"level{level}_{n}"] = relay
                m.d.comb += relay.i.eq(parents[n // self._radix])
            parents = [relay.o for relay in relays]
        m.d.comb += [leaf.eq(register) for leaf, register in zip(self.o, parents, strict=True)]
        return m


class FanIn(Part):
    """``o`` says whether any bit of ``i`` was up, ``tree_depth(leaves, radix)`` cycles ago.

    Every bit takes the same number of cycles: the answer is about one and the same moment for all leaves.

    Members
    -------
    i, o
        A bit for each leaf, and the root.
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
            registers = Signal(len(groups), name=f"level{depth}", reset_less=True)
            m.d.sync += registers.eq(Cat(group.any() for group in groups))
            level = registers
        m.d.comb += self.o.eq(level)
        return m
