"""A core's share of one window, read one tuple at a time: in registers or in memory."""

from amaranth.hdl import Array, Module, Signal
from amaranth.lib import memory
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.pairing import Pairing
from streamjoin.hdl.part import Part


class _Segment(Part):
    """The interface that both segments share.

    A shift lets one slot enter and the oldest leave. Reading is by index, one slot a cycle, in an order of the
    segment's own choice: all that a scan needs is that the indices from 0 up to ``length - 1`` name each slot once,
    as long as there is no shift in between. After a reset every slot is empty.

    Members
    -------
    shift
        ``entering`` takes the place of the oldest slot.
    scan, index
        Read this slot. Indices beyond the segment read as empty slots.
    scanned
        The slot that was read in the cycle before, as it was before any shift in that cycle.
    leaving
        The oldest slot, settled from the second cycle after a scan or a shift on.
    """

    def __init__(self, pairing: Pairing, length: int, indices: int):
        if length < 1:
            raise ValueError(f"a segment needs room for at least one tuple, not {length}")
        if indices < length:
            raise ValueError(f"{indices} indices cannot name all {length} slots of a segment")
        self.pairing = pairing
        self.length = length
        super().__init__(
            {
                "entering": In(pairing.slot),
                "shift": In(1),
                "scan": In(1),
                "index": In(range(indices)),
                "scanned": Out(pairing.slot),
                "leaving": Out(pairing.slot),
            }
        )


class RegisterSegment(_Segment):
    """A shift register: the window of the papers. Index 0 is the slot that entered last."""

    def elaborate(self, platform):
        m = Module()
        valid = Signal(self.length)
        tuples = [Signal(self.pairing.tuple, name=f"tuple{n}", reset_less=True) for n in range(self.length)]
        with m.If(self.shift):
            m.d.sync += valid.eq((valid << 1) | self.entering.valid)
            m.d.sync += [slot.eq(before) for slot, before in zip(tuples, [self.entering.tuple, *tuples], strict=False)]
        m.d.comb += [self.leaving.valid.eq(valid[-1]), self.leaving.tuple.eq(tuples[-1])]
        m.d.sync += [
            self.scanned.tuple.eq(Array(slot.as_value() for slot in tuples)[self.index]),
            self.scanned.valid.eq(valid.bit_select(self.index, 1) & (self.index < self.length)),
        ]
        return m


class MemorySegment(_Segment):
    """A ring in block or distributed RAM: the next place to write is the oldest slot.

    One read port serves both the scan and, between scans, the oldest slot. A reset cannot clear a memory; so slots
    count as empty until the ring has been written that far.
    """

    def elaborate(self, platform):
        m = Module()
        m.submodules.ring = ring = memory.Memory(shape=self.pairing.slot, depth=self.length, init=[])
        write, read = ring.write_port(), ring.read_port()

        oldest = Signal(range(self.length))
        wrapped = Signal()
        m.d.comb += [write.addr.eq(oldest), write.data.eq(self.entering), write.en.eq(self.shift)]
        with m.If(self.shift):
            with m.If(oldest == self.length - 1):
                m.d.sync += [oldest.eq(0), wrapped.eq(1)]
            with m.Else():
                m.d.sync += oldest.eq(oldest + 1)

        written = Signal()
        with m.If(self.scan):
            m.d.comb += read.addr.eq(self.index)
            m.d.sync += written.eq((self.index < self.length) & (wrapped | (self.index < oldest)))
        with m.Else():
            m.d.comb += read.addr.eq(oldest)
            m.d.sync += written.eq(wrapped)
        for port in (self.scanned, self.leaving):
            m.d.comb += [port.tuple.eq(read.data.tuple), port.valid.eq(read.data.valid & written)]
        return m


#: The segments by the name of the parameter ``storage``.
SEGMENTS = {"registers": RegisterSegment, "memory": MemorySegment}
