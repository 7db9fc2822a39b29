"""A core's share of one window, a ring of slots: in registers or in memory."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import memory
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.ram import NEVER_COLLIDES


class _Segment(Part):
    """The interface that both segments share.

    The segment turns by one slot a step. With ``write`` the oldest slot leaves and ``entering`` takes its place;
    without it the oldest goes round and counts as the newest from then on, and is shown on its way. So a scan is as
    many steps as there are slots: it shows each of them once, the oldest first, and leaves all as it was. Steps need
    not follow each other at once, but a scan has to be finished before anything else happens. After a reset every slot
    is empty.

    ``step`` and ``write`` move whole tuples: let them come straight out of registers.

    Members
    -------
    step, write
        Turn by one slot, as described above; no ``write`` without a ``step``.
    entering
        The slot that enters.
    scanned
        The slot that went round in the cycle before. It comes late: put it into a register before doing much with it.
    leaving
        The oldest slot, settled from the second cycle after a step on.
    """

    def __init__(self, layout: TupleLayout, length: int):
        if length < 1:
            raise ValueError(f"a segment needs room for at least one tuple, not {length}")
        self.layout = layout
        self.length = length
        super().__init__(
            {
                "entering": In(layout.slot),
                "step": In(1),
                "write": In(1),
                "scanned": Out(layout.slot),
                "leaving": Out(layout.slot),
            }
        )


class RegisterSegment(_Segment):
    """A shift register, the window of the papers, which goes round for a scan: no selection among slots is needed."""

    def elaborate(self, platform):
        m = Module()
        valid = Signal(self.length)
        tuples = [Signal(self.layout.tuple, name=f"tuple{n}", reset_less=True) for n in range(self.length)]
        newest = Mux(self.write, self.entering.tuple, tuples[-1])
        with m.If(self.step):
            m.d.sync += valid.eq((valid << 1) | Mux(self.write, self.entering.valid, valid[-1]))
            m.d.sync += [slot.eq(before) for slot, before in zip(tuples, [newest, *tuples], strict=False)]
        m.d.comb += [
            self.leaving.valid.eq(valid[-1]),
            self.leaving.tuple.eq(tuples[-1]),
            self.scanned.valid.eq(valid[0]),
            self.scanned.tuple.eq(tuples[0]),
        ]
        return m


class MemorySegment(_Segment):
    """A ring in block or distributed RAM: the next place to write is the oldest slot.

    A reset cannot clear a memory; so slots count as empty until the ring has been written that far.
    """

    def elaborate(self, platform):
        m = Module()
        m.submodules.ring = ring = memory.Memory(
            shape=self.layout.slot, depth=self.length, init=[], attrs=NEVER_COLLIDES
        )
        write, read = ring.write_port(), ring.read_port()

        place = Signal(range(self.length))
        written = Signal(range(self.length + 1))
        counts = Signal()
        m.d.comb += [
            write.addr.eq(place),
            write.data.eq(self.entering),
            write.en.eq(self.write),
            read.addr.eq(place),
        ]
        m.d.sync += counts.eq(place < written)
        with m.If(self.step):
            m.d.sync += place.eq(Mux(place == self.length - 1, 0, place + 1))
        with m.If(self.write & (written != self.length)):
            m.d.sync += written.eq(written + 1)
        for port in (self.scanned, self.leaving):
            m.d.comb += [port.tuple.eq(read.data.tuple), port.valid.eq(read.data.valid & counts)]
        return m


#: The segments by the name of the parameter ``storage``.
SEGMENTS = {"registers": RegisterSegment, "memory": MemorySegment}
