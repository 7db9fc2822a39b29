"""A stage between two parts of a stream that may stand far apart."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.part import Part


class Relay(Part):
    """Two places in registers: an item that enters in one cycle can leave in the next.

    One item enters and one leaves in every cycle. Neither side sees the other in the same cycle, and an item that
    leaves moves no other: all that its ``ready`` reaches is a few bits, where in a
    :class:`streamjoin.hdl.queue.Queue` it reaches every bit of the next item. So whoever takes items may be slow to say
    so, or far away.

    Members
    -------
    i, o
        Items in, items out.
    busy
        Something is inside.
    """

    def __init__(self, shape):
        self._shape = shape
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape)), "busy": Out(1)})

    def elaborate(self, platform):
        m = Module()
        places = [Signal(self._shape, name=f"place{n}", reset_less=True) for n in range(2)]
        some, both = Signal(), Signal()
        into_second, out_of_second = Signal(), Signal()
        entering, leaving = Signal(), Signal()
        m.d.comb += [
            self.i.ready.eq(~both),
            self.o.valid.eq(some),
            self.o.p.eq(Mux(out_of_second, *(place.as_value() for place in reversed(places)))),
            self.busy.eq(some),
            entering.eq(self.i.valid & ~both),
            leaving.eq(some & self.o.ready),
        ]
        # A place that is free may be written at any time: whether an item enters is known late.
        with m.If(~both & ~into_second):
            m.d.sync += places[0].eq(self.i.p)
        with m.If(~both & into_second):
            m.d.sync += places[1].eq(self.i.p)
        m.d.sync += [
            into_second.eq(into_second ^ entering),
            out_of_second.eq(out_of_second ^ leaving),
            some.eq(entering | both | (some & ~leaving)),
            both.eq((both | (some & entering)) & ~leaving),
        ]
        return m
