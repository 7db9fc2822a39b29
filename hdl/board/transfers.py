"""Pairs of tuples one after the other, as transfers of several at once."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import TupleLayout


class PairTransfers(Part):
    """Gathers pairs for a design that takes several tuples of each stream in a cycle.

    The first transfer holds one pair, the next one more, up to as many as there are slots, and then one again; fewer,
    if no pair waits. The order of arrival is that of the pairs, in each of them R before S. A transfer is offered from
    the cycle after its last pair was taken until it is taken itself, and no pair is taken meanwhile.

    Parameters
    ----------
    layout
        Layouts, with a ``width`` of several tuples.

    Members
    -------
    i
        Pairs of tuples, with fields ``r`` and ``s``.
    o_r, o_s
        What the inputs of the design are to be given: both are valid in the same cycles, and ready has to be.
    """

    def __init__(self, layout: TupleLayout):
        self.layout = layout
        pair = data.StructLayout({"r": layout.arrival, "s": layout.arrival})
        outputs = {f"o_{side}": Out(stream.Signature(layout.input_payload(side))) for side in layout.sides}
        super().__init__({"i": In(stream.Signature(pair)), **outputs})

    def elaborate(self, platform):
        m = Module()
        width, sides = self.layout.width, {"r": self.o_r, "s": self.o_s}
        count = Signal(range(width + 1))
        wanted = Signal(range(width + 1), init=1)
        offering = Signal()
        m.d.comb += self.i.ready.eq(~offering)
        for side, port in sides.items():
            m.d.comb += [port.valid.eq(offering), port.p.count.eq(count)]
            slots = [Signal(self.layout.arrival, name=f"{side}{n}", reset_less=True) for n in range(width)]
            for n, (slot, shown) in enumerate(zip(slots, port.p.slots, strict=True)):
                m.d.comb += [shown[name].eq(slot[name]) for name in self.layout.arrival.members]
                if side == "s":
                    m.d.comb += shown.after.eq(n + 1)
            with m.If(self.i.valid & self.i.ready):
                m.d.sync += Array(slots)[count].eq(self.i.p[side])
        with m.If(offering):
            with m.If(self.o_r.ready):
                m.d.sync += [offering.eq(0), count.eq(0), wanted.eq(Mux(wanted == width, 1, wanted + 1))]
        with m.Elif(self.i.valid):
            m.d.sync += [count.eq(count + 1), offering.eq(count + 1 == wanted)]
        with m.Else():
            m.d.sync += offering.eq(count != 0)
        return m
