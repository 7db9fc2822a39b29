"""The slack guard: holds tuples back before one of them overwrites a place that a walk may still visit."""

from amaranth.hdl import Array, Module, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part


class SlackGuard(Part):
    """Counts arrivals in epochs, and the walks that began in each of the last two.

    An epoch lasts for ``epoch`` arrivals, and longer if walks that began in the one before it are still under way:
    then ``halt`` is up, until they have ended. So while a walk lasts, no more arrive than two epochs have, and those
    that were already on their way when ``halt`` went up. No queue would hold them back: tuples that find nothing begin
    no walk, and one walk along a hot key can outlast thousands of them.

    Parameters
    ----------
    epoch
        Arrivals in an epoch, from 2 up.
    most
        Walks under way at a time, at most.

    Members
    -------
    arrives
        A tuple is stored.
    now
        The epoch, by its lowest bit.
    begins
        A walk begins, in the epoch ``now``.
    ends, ended
        A walk ends, and the epoch in which it began.
    halt
        No more tuples may come.
    """

    def __init__(self, epoch: int, most: int):
        if epoch < 2:
            raise ValueError(f"an epoch lasts for at least two arrivals, not {epoch}")
        self._epoch = epoch
        self._most = most
        super().__init__(
            {
                "arrives": In(1),
                "now": Out(1),
                "begins": In(1),
                "ends": In(1),
                "ended": In(1),
                "halt": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        passed = Signal(range(self._epoch + 1))
        is_over = Signal()
        walks = Array(Signal(range(self._most + 1), name=f"walks{n}") for n in range(2))
        for n, count in enumerate(walks):
            more, fewer = self.begins & (self.now == n), self.ends & (self.ended == n)
            with m.If(more & ~fewer):
                m.d.sync += count.eq(count + 1)
            with m.Elif(fewer & ~more):
                m.d.sync += count.eq(count - 1)
        before_has_ended = walks[~self.now] == 0
        m.d.sync += self.halt.eq(is_over & ~before_has_ended)
        with m.If(is_over & before_has_ended):
            m.d.sync += [self.now.eq(~self.now), is_over.eq(0), passed.eq(0)]
        with m.Elif(self.arrives & ~is_over):
            m.d.sync += [passed.eq(passed + 1), is_over.eq(passed == self._epoch - 1)]
        return m
