"""The flight guard: holds tuples back while one that came long before them has not been everywhere yet."""

from collections.abc import Sequence

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part


class FlightGuard(Part):
    """Counts transfers in epochs, and the tuples that came in each of the last two and are still under way.

    An epoch lasts for ``epoch`` transfers, and longer if tuples of the one before it are still under way: then ``halt``
    is up. So no tuple is overtaken by more transfers than two epochs have, and those that enter until ``halt`` is
    heard.

    Parameters
    ----------
    epoch
        Transfers in an epoch.
    most
        Tuples in a transfer, at most.
    ways
        Where tuples arrive, in each cycle at most one at each.

    Members
    -------
    enters
        A transfer.
    now
        The epoch, by its lowest bit.
    count, came
        So many tuples are under way from now on, and the epoch in which they came: that of the last few cycles.
    done
        For each way: a tuple has arrived, and the epoch in which it came.
    halt
        No more transfers may enter.
    flying
        Something is under way.
    """

    def __init__(self, epoch: int, most: int, ways: int):
        self._epoch = epoch
        self._most = most
        self._ways = ways
        super().__init__(
            {
                "enters": In(1),
                "now": Out(1),
                "count": In(range(most + 1)),
                "came": In(1),
                "done": In(data.ArrayLayout(data.StructLayout({"some": 1, "epoch": 1}), ways)),
                "halt": Out(1),
                "flying": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        passed = Signal(range(self._epoch + 1))
        is_over = Signal()
        # An epoch and the next one, and some that enter while it is too late to hold them back.
        flying = Array(Signal(range(4 * self._epoch * self._most), name=f"flying{n}") for n in range(2))
        for n, count in enumerate(flying):
            arrived = [done.some & (done.epoch == n) for done in self.done]
            landed = self._sum(m, arrived, f"landed{n}")
            m.d.sync += count.eq(count + Mux(self.came == n, self.count, 0) - landed)
        before_has_landed = flying[~self.now] == 0
        m.d.sync += [
            self.halt.eq(is_over & ~before_has_landed),
            self.flying.eq(Cat(flying).any()),
        ]
        with m.If(is_over & before_has_landed):
            m.d.sync += [self.now.eq(~self.now), is_over.eq(0), passed.eq(0)]
        with m.Elif(self.enters & ~is_over):
            m.d.sync += [passed.eq(passed + 1), is_over.eq(passed == self._epoch - 1)]
        return m

    @staticmethod
    def _sum(m, bits: Sequence[Value], name: str) -> Value:
        """How many are up: added in a tree with registers, four at a time."""
        level = 0
        while len(bits) > 1:
            groups = [bits[n : n + 4] for n in range(0, len(bits), 4)]
            sums = [Signal(range((4 << 2 * level) + 1), name=f"{name}_{level}_{n}") for n in range(len(groups))]
            m.d.sync += [total.eq(sum(group[1:], group[0])) for total, group in zip(sums, groups, strict=True)]
            bits, level = list(sums), level + 1
        return bits[0]
