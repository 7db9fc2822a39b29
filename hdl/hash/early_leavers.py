"""Which of several tuples a cycle push another one out of a time-based window before its time is up."""

from amaranth.hdl import Array, Const, Module, Mux, Signal
from amaranth.lib import data, memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2, exact_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.pipeline import delayed


class EarlyLeavers(Part):
    """Keeps the times of the last ``window`` tuples, in as many banks as tuples come in a cycle.

    Tuple ``n`` is in bank ``n % width``; so those of one transfer are in banks of their own, and so are those that
    they push out, which came ``window`` before them.

    Parameters
    ----------
    width
        Tuples in a transfer, at most; a power of two.
    window, span
        How many tuples there is room for, and how long each should stay.
    time_width
        Bits of a time.

    Members
    -------
    enters, count, times
        A transfer: how many tuples, and when each came.
    early
        How many of those that left had to leave too soon, four cycles later.
    """

    def __init__(self, width: int, window: int, span: int, time_width: int):
        self._width, self._window, self._span, self._time_width = width, window, span, time_width
        super().__init__(
            {
                "enters": In(1),
                "count": In(range(width + 1)),
                "times": In(data.ArrayLayout(time_width, width)),
                "early": Out(range(width + 1)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        width, window = self._width, self._window
        lane = exact_log2(width)
        # No tuple overwrites another one in the cycle in which that is read.
        rows = 1 << ceil_log2(-(-window // width) + 2)
        index = Signal(lane + exact_log2(rows))
        inside = Signal(range(window + 1))
        with m.If(self.enters):
            m.d.sync += [
                index.eq(index + self.count),
                inside.eq(Mux(inside + self.count > window, window, inside + self.count)),
            ]

        times = Array(self.times[n] for n in range(width))
        found = []
        for bank in range(width):
            kept = memory.Memory(shape=self._time_width, depth=rows, init=[])
            m.submodules[f"bank{bank}"] = kept
            write, read = kept.write_port(), kept.read_port()
            # The tuple of the transfer that goes into this bank, and the one that pushes somebody out of it.
            into, out = Signal(lane, name=f"into{bank}"), Signal(lane, name=f"out{bank}")
            m.d.comb += [
                into.eq(Const(bank, lane) - index[:lane]),
                out.eq(Const((bank + window) % width, lane) - index[:lane]),
                write.addr.eq((index + into) >> lane),
                write.data.eq(times[into]),
                write.en.eq(self.enters & (into < self.count)),
                read.addr.eq((index + out - window)[: len(index)] >> lane),
            ]
            found.append(read.data)
        found = Array(found)

        first = delayed(m, index[:lane] - window, 1, name="first")
        came = [delayed(m, self.times[n], 1, name=f"time{n}") for n in range(width)]
        too_early = []
        for n in range(width):
            pushes = Signal(name=f"pushes{n}")
            m.d.sync += pushes.eq(self.enters & (self.count > n) & (inside + n >= window))
            stayed = Signal(self._time_width, name=f"stayed{n}", reset_less=True)
            # A tuple may push out another one of the same transfer.
            old = came[n - window] if n >= window else found[(first + n)[:lane]]
            m.d.sync += stayed.eq(came[n] - old)
            left = delayed(m, pushes, 1, resets=True, name=f"left{n}")
            too_early.append(delayed(m, left & (stayed < self._span), 1, resets=True, name=f"early{n}"))
        m.d.sync += self.early.eq(sum(too_early[1:], too_early[0]))
        return m
