"""A queue of shaped items between two streams, with an early warning."""

from amaranth.hdl import Module, Shape
from amaranth.lib import fifo, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.part import Part


class Queue(Part):
    """First in, first out: an item that enters in one cycle can leave in the next.

    One item enters and one leaves in every cycle, as long as there is room for the one and there is the other; a
    full queue takes nothing, even while an item leaves it (so a queue of depth 1 passes one item in two cycles).

    Parameters
    ----------
    shape
        What an item looks like.
    depth
        How many items there is room for.
    margin
        How many items must still fit when ``almost_full`` goes up.

    Members
    -------
    i, o
        Items in, items out.
    almost_full
        Room for no more than ``margin`` further items is left. Whoever feeds the queue without looking at
        ``i.ready`` loses nothing if it sends at most ``margin`` items from that cycle on.
    """

    def __init__(self, shape, depth: int, *, margin: int = 0):
        if depth < 1:
            raise ValueError(f"a queue needs room for at least one item, not {depth}")
        if not 0 <= margin < depth:
            raise ValueError(f"a margin of {margin} does not fit a queue of {depth}: it must be below the depth")
        self.depth = depth
        self.margin = margin
        self._width = Shape.cast(shape).width
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape)), "almost_full": Out(1)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.buffer = buffer = fifo.SyncFIFO(width=self._width, depth=self.depth)
        m.d.comb += [
            buffer.w_data.eq(self.i.p),
            buffer.w_en.eq(self.i.valid),
            self.i.ready.eq(buffer.w_rdy),
            self.o.p.eq(buffer.r_data),
            self.o.valid.eq(buffer.r_rdy),
            buffer.r_en.eq(self.o.ready),
            self.almost_full.eq(buffer.level >= self.depth - self.margin),
        ]
        return m
