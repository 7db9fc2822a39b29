"""A binary tree of mergers: many streams into one."""

from amaranth.hdl import Cat, Module
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.merger import make_merger


class MergingTree(Part):
    """Gathers any number of streams into one.

    The leaves are halved again and again, so that the depths of any two leaves differ by at most one and every
    merger's inputs carry as nearly the same load as can be; ``leaves - 1`` mergers in all. Nothing is lost: an output
    that stalls fills the mergers' queues and then holds back the leaves. A stream keeps its own order. Punctuations,
    which all leaves have to give, leave once, and after all that was before them on any leaf.

    Parameters
    ----------
    shape
        What an item looks like.
    leaves
        How many streams to gather; one passes straight through.
    merger
        ``"streaming"`` or ``"three-state"``.
    depth, replicated
        Of each merger: room in its queue, and whether its select is replicated.

    Members
    -------
    i, o
        The leaves and the root.
    busy
        One bit a merger (a lone 0 if there is one leaf): something is inside.
    clear
        One bit a merger: resets it.
    """

    def __init__(self, shape, leaves: int, *, merger: str = "streaming", depth: int = 4, replicated: bool = False):
        if leaves < 1:
            raise ValueError(f"a merging tree needs at least one leaf, not {leaves}")
        self._merger = lambda: make_merger(merger, shape, depth, replicated=replicated)
        super().__init__(
            {
                "i": In(stream.Signature(shape)).array(leaves),
                "o": Out(stream.Signature(shape)),
                "busy": Out(max(1, leaves - 1)),
                "clear": In(max(1, leaves - 1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        busy = []

        def gather(streams):
            if len(streams) == 1:
                return streams[0]
            half = len(streams) // 2
            halves = gather(streams[:half]), gather(streams[half:])
            merger = self._merger()
            m.submodules[f"merger{len(busy)}"] = merger
            merger.reset = self.clear[len(busy)]
            busy.append(merger.busy)
            for source, port in zip(halves, merger.i, strict=True):
                connect(m, source, port)
            return merger.o

        connect(m, gather([flipped(leaf) for leaf in self.i]), flipped(self.o))
        m.d.comb += self.busy.eq(Cat(busy))
        return m
