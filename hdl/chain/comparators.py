"""Comparators side by side, one a lane, each with a queue of results, and the tree that merges these."""

from amaranth.hdl import Cat, Const, Module, Mux, ResetSignal, Signal
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import ORDER_WIDTH, TupleLayout
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.merging_tree import MergingTree


class Comparators(Part):
    """Compares a pair of tuples in each lane in every cycle; pairs that match become results.

    Parameters
    ----------
    layout
        When tuples make a pair.
    lanes
        How many pairs a cycle.
    queue
        Results that may wait in each lane.
    reserve
        How many cycles' pairs may still come after ``pause`` has gone up.

    Members
    -------
    r, s, mask
        The tuples of each lane, and which lanes count.
    mark, mark_order
        A punctuation comes behind the pairs of this cycle (if the layout is numbered); not before the last one has
        left.
    pause
        No more, please: queues are nearly full.
    o_result
        Results; each lane's in its order.
    busy
        Something is inside.
    """

    #: Cycles that a punctuation waits for one without a result.
    _PATIENCE = 15

    def __init__(self, layout: TupleLayout, lanes: int, *, queue: int, reserve: int):
        self._layout = layout
        # The pairs under way here, and the cycle that the warning takes.
        self._reserve = reserve + 3
        self._queue = queue
        super().__init__(
            {
                "r": In(layout.tuple).array(lanes),
                "s": In(layout.tuple).array(lanes),
                "mask": In(lanes),
                **({"mark": In(1), "mark_order": In(ORDER_WIDTH)} if layout.numbered else {}),
                "pause": Out(1),
                "o_result": Out(layout.results),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        lanes = len(self.mask)
        m.submodules.tree = tree = MergingTree(self._layout.result, lanes)
        queues = []
        counts = Signal(lanes)
        found = Signal(lanes)
        m.d.sync += counts.eq(self.mask)
        matches = []
        for lane in range(lanes):
            r, s, later_r, later_s = (
                Signal(self._layout.tuple, name=f"{name}{lane}", reset_less=True)
                for name in ("r", "s", "later_r", "later_s")
            )
            m.d.sync += [r.eq(self.r[lane]), s.eq(self.s[lane]), later_r.eq(r), later_s.eq(s)]
            matches.append(self._layout.matches(r, s))
            queue = FIFO.with_reserve(self._layout.result, self._queue, self._reserve)
            m.submodules[f"queue{lane}"] = queue
            m.d.comb += [*self._layout.join(queue.i.p, later_r, later_s), queue.i.valid.eq(found[lane])]
            connect(m, queue.o, tree.i[lane])
            queues.append(queue)
        marks, starved = self._punctuate(m, queues, found)
        m.d.sync += [
            found.eq(counts & Cat(matches)),
            self.pause.eq(Cat(queue.almost_full for queue in queues).any() | starved),
        ]
        m.d.comb += tree.clear.eq(ResetSignal().replicate(len(tree.clear)))
        connect(m, tree.o, flipped(self.o_result))
        m.d.comb += self.busy.eq(Cat(counts, found, marks, tree.busy, *(queue.busy for queue in queues)).any())
        return m

    def _punctuate(self, m, queues, found):
        """Put a punctuation into every lane's queue, in a cycle without a result.

        Returns bits that say if one is due, and whether there was no such cycle for long: then no further pairs are
        asked for until there is.
        """
        if not self._layout.numbered:
            return Const(0), Const(0)
        due = Signal(len(queues))
        # Two cycles behind the pairs of its own cycle: theirs are the results of then.
        comes = Signal(2)
        m.d.sync += comes.eq(Cat(self.mark, comes))
        order = Signal(ORDER_WIDTH, reset_less=True)
        with m.If(self.mark):
            m.d.sync += order.eq(self.mark_order)
        for lane, queue in enumerate(queues):
            # What is kept free of the queue is for pairs.
            with m.If(due[lane] & ~found[lane] & ~queue.almost_full):
                m.d.comb += [queue.i.p.mark.eq(1), queue.i.p.order.eq(order), queue.i.valid.eq(1)]
                m.d.sync += due[lane].eq(0)
            with m.If(comes[-1]):
                m.d.sync += due[lane].eq(1)
        patience = Signal(range(self._PATIENCE + 1))
        m.d.sync += patience.eq(Mux(due.any(), patience + (patience != self._PATIENCE), 0))
        return Cat(due, comes), patience == self._PATIENCE
