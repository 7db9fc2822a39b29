"""The comparing half of a core: what the scans of both windows show becomes results."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import ORDER_WIDTH, TupleLayout
from streamjoin.hdl.chain.comparators import Comparators
from streamjoin.hdl.lib.merger import make_merger
from streamjoin.hdl.lib.replicated_select import replicated_mux, select_registers
from streamjoin.hdl.lib.skid_buffer import SkidBuffer


def scan(layout: TupleLayout, lanes: int) -> wiring.Signature:
    """What a scan has to show.

    Members
    -------
    wants, go
        There is a row to be shown; it may be, some cycles later.
    probe, resting, mask
        The tuple that scans, one of the window for each lane, and which of them count.
    mark, mark_order
        Behind this row comes a punctuation (if tuples are numbered); not before the last one has left the join.
    """
    return wiring.Signature(
        {
            "wants": Out(1),
            "go": In(1),
            "probe": Out(layout.tuple),
            "resting": Out(layout.tuple).array(lanes),
            "mask": Out(lanes),
            **({"mark": Out(1), "mark_order": Out(ORDER_WIDTH)} if layout.numbered else {}),
        }
    )


class ScanJoin(Part):
    """Compares what the scans of both windows show.

    Parameters
    ----------
    layout
        When tuples make a pair.
    lanes
        Tuples of a window that are compared in a cycle.
    shared
        Whether both windows share the comparators, in turns if both want, or each has its own.
    queue
        Results in each lane that may wait.
    latency
        Cycles from ``go`` to the row that is shown for it, if one is.

    Members
    -------
    r, s
        Scans of what rests of R and of S.
    o_result
        Results, in no particular order.
    busy
        Something is inside.
    """

    def __init__(self, layout: TupleLayout, lanes: int, *, shared: bool, queue: int, latency: int):
        self._layout = layout
        self._shared = shared
        self._latency = latency
        # Rows may still come for the cycle in which ``pause`` is heard, and for the one before.
        self._comparators = lambda: Comparators(layout, lanes, queue=queue, reserve=latency + 2)
        super().__init__(
            {
                "r": In(scan(layout, lanes)),
                "s": In(scan(layout, lanes)),
                "o_result": Out(layout.results),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        results, busy = (self._share_comparators if self._shared else self._own_comparators)(m)
        m.submodules.exit = way_out = SkidBuffer(self._layout.result)
        connect(m, results, way_out.i)
        connect(m, way_out.o, flipped(self.o_result))
        m.d.comb += self.busy.eq(Cat(*busy, way_out.busy).any())
        return m

    def _share_comparators(self, m):
        """One lot for both windows, round-robin."""
        m.submodules.compare = comparators = self._comparators()
        # Whose turn it is was decided one cycle ahead: neither scan waits for the other to say what it wants.
        turn_of_s, next_is_s = Signal(), Signal()
        m.d.comb += [
            next_is_s.eq(Mux(turn_of_s, ~self.r.wants, self.s.wants)),
            comparators.mask.eq(self.r.mask | self.s.mask),
        ]
        m.d.sync += [
            turn_of_s.eq(next_is_s),
            self.s.go.eq(next_is_s & ~comparators.pause),
            self.r.go.eq(~next_is_s & ~comparators.pause),
        ]
        # What is shown now is of the scan whose turn it was then: known without a look at what it shows.
        shows_s = Signal(self._latency - 1)
        m.d.sync += shows_s.eq(Cat(turn_of_s, shows_s))
        for lane, (r, s) in enumerate(zip(self.r.resting, self.s.resting, strict=True)):
            for side, of_s, of_r in (("r", self.s.probe, r), ("s", s, self.r.probe)):
                is_s = select_registers(m, f"{side}{lane}_of_s", shows_s[-1], of_r)
                m.d.comb += getattr(comparators, side)[lane].eq(replicated_mux(is_s, of_s, of_r))
        waits = Signal(2)
        if self._layout.numbered:
            # A punctuation counts when it has come from both windows.
            marks = Cat(self.r.mark, self.s.mark)
            with m.If((waits | marks).all()):
                m.d.comb += comparators.mark.eq(1)
                m.d.sync += waits.eq(0)
            with m.Else():
                m.d.sync += waits.eq(waits | marks)
            m.d.comb += comparators.mark_order.eq(self.r.mark_order)
        return comparators.o_result, (comparators.busy, waits)

    def _own_comparators(self, m):
        """One lot for each window."""
        m.submodules.merger = merger = make_merger("streaming", self._layout.result, 2)
        busy = [merger.busy]
        for side, scans, port in (("r", self.r, merger.i[0]), ("s", self.s, merger.i[1])):
            m.submodules[f"compare_{side}"] = comparators = self._comparators()
            m.d.comb += comparators.mask.eq(scans.mask)
            m.d.sync += scans.go.eq(~comparators.pause)
            for lane, resting in enumerate(scans.resting):
                r, s = (resting, scans.probe) if side == "r" else (scans.probe, resting)
                m.d.comb += [comparators.r[lane].eq(r), comparators.s[lane].eq(s)]
            if self._layout.numbered:
                m.d.comb += [comparators.mark.eq(scans.mark), comparators.mark_order.eq(scans.mark_order)]
            connect(m, comparators.o_result, port)
            busy.append(comparators.busy)
        return merger.o, busy
