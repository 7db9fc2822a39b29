"""A skid buffer: two registers between a part and another that may stand far away."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.replicated_select import replicated_mux, select_registers


class SkidBuffer(Part):
    """Two places in registers: an item that enters in one cycle can leave in the next.

    One item enters and one leaves in every cycle. Neither side sees the other in the same cycle, and an item that
    leaves moves no other: all that its ``ready`` reaches is a few bits, where in a
    :class:`streamjoin.hdl.lib.fifo.FIFO` it reaches every bit of the next item. So whoever takes items may be slow to
    say so, or far away.

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
        first, second = (Signal(self._shape, name=name, reset_less=True) for name in ("first", "second"))
        some, both = Signal(), Signal()
        entering, leaving = Signal(), Signal()
        next_from_second = Signal()
        from_second = select_registers(m, "from_second", next_from_second, first)
        into_second = from_second[0] ^ some
        m.d.comb += [
            self.i.ready.eq(~both),
            self.o.valid.eq(some),
            self.o.p.eq(replicated_mux(from_second, second, first)),
            self.busy.eq(some),
            entering.eq(self.i.valid & ~both),
            leaving.eq(some & self.o.ready),
            next_from_second.eq(from_second[0] ^ leaving),
        ]
        # A place that is free may be written at any time: whether an item enters is known late.
        with m.If(~both & ~into_second):
            m.d.sync += first.eq(self.i.p)
        with m.If(~both & into_second):
            m.d.sync += second.eq(self.i.p)
        m.d.sync += [some.eq(entering | both | (some & ~leaving)), both.eq((both | (some & entering)) & ~leaving)]
        return m
