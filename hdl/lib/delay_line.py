"""A shift register of which only the end can be seen, and which can therefore be a memory."""

from amaranth.hdl import Module, Signal
from amaranth.lib import memory
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part


class DelayLine(Part):
    """``o`` is what ``i`` was ``length`` shifts ago.

    A register at the end, and before it a ring in memory: each shift reads the oldest item into the register and
    writes the newest over it; one or two items are not worth a memory. What comes out before ``length`` items went in
    is undefined.

    Parameters
    ----------
    shape
        What an item looks like.
    length
        How many items are inside.

    Members
    -------
    i, o
        The newest item, and the oldest.
    shift
        The newest goes in, and the next one after the oldest comes to the end.
    """

    def __init__(self, shape, length: int):
        if length < 1:
            raise ValueError(f"a delay line holds at least one item, not {length}")
        self._shape = shape
        self._length = length
        super().__init__({"i": In(shape), "o": Out(shape), "shift": In(1)})

    def elaborate(self, platform):
        m = Module()
        places = self._length - 1
        if places < 2:
            items = [Signal(self._shape, name=f"item{n}", reset_less=True) for n in range(self._length)]
            with m.If(self.shift):
                m.d.sync += [item.eq(before) for item, before in zip(items, [self.i, *items], strict=False)]
            m.d.comb += self.o.eq(items[-1])
            return m
        m.submodules.ring = ring = memory.Memory(shape=self._shape, depth=places, init=[])
        write, read = ring.write_port(), ring.read_port()
        oldest = Signal(range(places))
        m.d.comb += [
            write.addr.eq(oldest),
            write.data.eq(self.i),
            write.en.eq(self.shift),
            read.addr.eq(oldest),
            read.en.eq(self.shift),
            self.o.eq(read.data),
        ]
        with m.If(self.shift):
            with m.If(oldest == places - 1):
                m.d.sync += oldest.eq(0)
            with m.Else():
                m.d.sync += oldest.eq(oldest + 1)
        return m
