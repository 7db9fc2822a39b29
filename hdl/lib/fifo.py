"""A FIFO of shaped items between two streams, with an early warning."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import memory, stream
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.ram import NEVER_COLLIDES

#: Where binary counting begins.
_DEEPEST_THERMOMETER = 64


class FIFO(Part):
    """First in, first out: an item that enters in one cycle can leave in the second after it.

    One item enters and one leaves in every cycle, as long as there is room for the one and there is the other; a
    full queue takes nothing, even while an item leaves it (so a queue of depth 1 passes one item in two cycles).

    Everything that leaves this part comes straight out of a register: ``i.ready``, ``o.valid``, ``o.p`` and
    ``almost_full``. So queues cut paths, wherever their neighbours are placed. Items wait in a memory that is read
    synchronously, which every family of FPGAs has; the register behind it is the exit, where one more item stands.
    The number of items in the memory is kept in thermometer code, as many ones from bit 0 up: full, empty and almost
    full each are a bit of it, where a binary number would have to be compared. A deep queue, of more than 64, counts in
    binary, and has a register for each of the three.

    Parameters
    ----------
    shape
        What an item looks like.
    depth
        How many items may wait behind the one at the exit.
    margin
        How many items must still fit when ``almost_full`` goes up.
    trusting
        Whoever feeds the queue minds ``almost_full`` and so never fills it beyond its depth: nothing is asked when an
        item enters, ``i.ready`` stays up, and no logic stands between ``i.valid`` and the queue's own registers.

    Members
    -------
    i, o
        Items in, items out.
    almost_full
        Room for no more than ``margin`` further items is left. Whoever feeds the queue without looking at
        ``i.ready`` loses nothing if it sends at most ``margin`` items from that cycle on.
    busy
        Something is inside.
    """

    def __init__(self, shape, depth: int, *, margin: int = 0, trusting: bool = False):
        if depth < 1:
            raise ValueError(f"a queue needs room for at least one item, not {depth}")
        if not 0 <= margin < depth:
            raise ValueError(f"a margin of {margin} does not fit a queue of {depth}: it must be below the depth")
        self.depth = depth
        self.margin = margin
        self._trusting = trusting
        self._shape = shape
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(shape)),
                "almost_full": Out(1),
                "busy": Out(1),
            }
        )

    @classmethod
    def with_reserve(cls, shape, depth: int, reserve: int) -> "FIFO":
        """A trusting queue that warns when ``depth`` items wait, and still takes ``reserve`` more."""
        return cls(shape, depth + reserve, margin=reserve, trusting=True)

    def elaborate(self, platform):
        m = Module()
        # Rounded up to a power of two, so that its pointers wrap by themselves.
        places = 1 << ceil_log2(self.depth)
        m.submodules.memory = waiting = memory.Memory(shape=self._shape, depth=places, init=[], attrs=NEVER_COLLIDES)
        write, read = waiting.write_port(), waiting.read_port()
        level = (_Thermometer if self.depth <= _DEEPEST_THERMOMETER else _Binary)(self.depth, self.depth - self.margin)
        entering = Signal()
        moving_up = Signal()  # to the exit
        # What is written to a free place does not matter before the item counts.
        free = 1 if self.depth < places else ~level.full
        m.d.comb += [
            self.i.ready.eq(1 if self._trusting else ~level.full),
            entering.eq(self.i.valid & self.i.ready),
            write.data.eq(self.i.p),
            write.en.eq(free if self._trusting else entering),
            moving_up.eq(level.some & (self.o.ready | ~self.o.valid)),
            read.en.eq(moving_up),
            self.o.p.eq(read.data),
            self.almost_full.eq(level.almost_full),
            self.busy.eq(level.some | self.o.valid),
        ]
        with m.If(entering):
            m.d.sync += write.addr.eq(write.addr + 1)
        with m.If(moving_up):
            m.d.sync += read.addr.eq(read.addr + 1)
        level.count(m, entering, moving_up)
        with m.If(moving_up):
            m.d.sync += self.o.valid.eq(1)
        with m.Elif(self.o.ready):
            m.d.sync += self.o.valid.eq(0)
        return m


class _Thermometer:
    """The number of items in a memory in thermometer code: each flag is one bit of it."""

    def __init__(self, depth: int, warning: int):
        self._level = Signal(depth, name="level")
        self.some, self.full, self.almost_full = self._level[0], self._level[-1], self._level[warning - 1]

    def count(self, m, entering, leaving):
        with m.If(entering ^ leaving):
            m.d.sync += self._level.eq(Mux(entering, (self._level << 1) | 1, self._level >> 1))


class _Binary:
    """The number of items in a memory in binary, and a register for each flag."""

    def __init__(self, depth: int, warning: int):
        self._depth = depth
        self._warning = warning
        self._level = Signal(range(depth + 1), name="level")
        self.some, self.full, self.almost_full = (Signal(name=name) for name in ("some", "full", "nearly"))

    def count(self, m, entering, leaving):
        level = self._level
        with m.If(entering & ~leaving):
            m.d.sync += [
                level.eq(level + 1),
                self.some.eq(1),
                self.full.eq(level == self._depth - 1),
                self.almost_full.eq(level >= self._warning - 1),
            ]
        with m.Elif(leaving & ~entering):
            m.d.sync += [
                level.eq(level - 1),
                self.some.eq(level != 1),
                self.full.eq(0),
                self.almost_full.eq(level > self._warning),
            ]
