"""The way of results to the output, one by one or several in a transfer."""

from amaranth.hdl import Cat, Module, ResetSignal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.slots import Slots
from streamjoin.hdl.hash.result_packer import Packer
from streamjoin.hdl.lib.merging_tree import MergingTree


class Results(Part):
    """Gathers streams in trees of mergers, as many as results may leave in a cycle, and packs what these give.

    Parameters
    ----------
    shape
        What a result looks like.
    leaves
        How many streams there are.
    width
        Results that may leave in a cycle.

    Members
    -------
    i, o
        The leaves and the output.
    busy
        Something is inside.
    """

    def __init__(self, shape, leaves: int, width: int):
        self._shape = shape
        self._leaves = leaves
        self._width = width
        output = shape if width == 1 else Slots(shape, width)
        super().__init__(
            {
                "i": In(stream.Signature(shape)).array(leaves),
                "o": Out(stream.Signature(output)),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        busy = []
        if self._width > 1:
            m.submodules.packer = packer = Packer(self._shape, self._width)
            connect(m, packer.o, flipped(self.o))
            roots = list(packer.i)
            busy.append(packer.busy)
        else:
            roots = [flipped(self.o)]
        for n, root in enumerate(roots[: self._leaves]):
            mine = [self.i[leaf] for leaf in range(n, self._leaves, len(roots))]
            m.submodules[f"tree{n}"] = tree = MergingTree(self._shape, len(mine), replicated=True)
            m.d.comb += tree.clear.eq(ResetSignal().replicate(len(tree.clear)))
            connect(m, tree.o, root)
            for leaf, port in zip(tree.i, mine, strict=True):
                connect(m, flipped(port), leaf)
            busy.append(tree.busy.any())
        m.d.comb += self.busy.eq(Cat(busy).any())
        return m
