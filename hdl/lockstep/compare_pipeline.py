"""The comparator of a core that compares one pair of tuples a cycle, and the queue of the pairs that match."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.fifo import FIFO


class ComparePipeline(Part):
    """Takes two tuples in every cycle, holds them, compares them, and queues their result if they match.

    Nothing is asked when a pair enters: whoever sends them minds ``full``.

    Parameters
    ----------
    layout
        Layouts and join condition.
    queue
        Results that may wait before ``full`` goes up.
    margin
        Results that may still come after that.

    Members
    -------
    i
        Two tuples, and whether they are to be compared.
    o
        The results of those that match.
    full
        There is room only for ``margin`` further results.
    under_way
        One bit each: there is a pair to be compared; there is a result that goes into the queue.
    waiting
        There are results in the queue.
    """

    #: From the cycle in which a pair enters to the one in which its result goes into the queue.
    LATENCY = 2

    def __init__(self, layout: TupleLayout, *, queue: int, margin: int):
        self._layout = layout
        self._queue = queue
        self._margin = margin
        pair = data.StructLayout({"r": layout.tuple, "s": layout.tuple, "valid": 1})
        super().__init__(
            {"i": In(pair), "o": Out(layout.results), "full": Out(1), "under_way": Out(2), "waiting": Out(1)}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.results = results = FIFO(self._layout.result, self._queue + self._margin, margin=self._margin)
        connect(m, results.o, flipped(self.o))
        r, s = (Signal(self._layout.tuple, name=side, reset_less=True) for side in "rs")
        compares, matches = Signal(), Signal()
        result = Signal(self._layout.result, reset_less=True)
        m.d.sync += [
            r.eq(self.i.r),
            s.eq(self.i.s),
            compares.eq(self.i.valid),
            matches.eq(compares & self._layout.matches(r, s)),
            *self._layout.join(result, r, s),
        ]
        m.d.comb += [
            results.i.p.eq(result),
            results.i.valid.eq(matches),
            self.full.eq(results.almost_full),
            self.under_way.eq(Cat(compares, matches)),
            self.waiting.eq(results.busy),
        ]
        return m
