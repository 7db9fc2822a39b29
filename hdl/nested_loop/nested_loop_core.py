"""The baseline core: both windows whole, each scanned one comparison a cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.merger import Merger
from streamjoin.hdl.lockstep.compare_pipeline import ComparePipeline
from streamjoin.hdl.lockstep.core import JoinCore
from streamjoin.hdl.lockstep.segment import SEGMENTS


class NestedLoopCore(JoinCore):
    """Two matching processes side by side: the new R tuple goes through S while the new S tuple goes through R.

    The R tuple is written before the scan, the S tuple after it, so the S tuple meets the new R tuple but not the other
    way round: each pair once. A scan lasts as long as the window it goes through, or the longer one if both streams
    have a tuple, plus the cycle of the command and three to write the S tuple and find the oldest one.

    Parameters
    ----------
    storage
        ``"registers"`` or ``"memory"``.
    queue
        Results that may wait for each process before the core asks for a halt.
    """

    #: Cycles of a command apart from the scan.
    OVERHEAD = 4
    #: From the last cycle of a scan to the result queue: ask, show, and the comparator.
    latency = 2 + ComparePipeline.LATENCY

    def __init__(self, layout: TupleLayout, *, segment_r: int, segment_s: int, storage: str, queue: int, reaction: int):
        self._segment = lambda length: SEGMENTS[storage](layout, length)
        self._comparator = lambda: ComparePipeline(layout, queue=queue, margin=reaction + self.latency)
        super().__init__(layout, segment_r=segment_r, segment_s=segment_s, reaction=reaction)

    @classmethod
    def pace(cls, window_r: int, window_s: int) -> Pace:
        return Pace(r=cls.OVERHEAD + window_s, s=cls.OVERHEAD + window_r, both=cls.OVERHEAD + max(window_r, window_s))

    def elaborate(self, platform):
        m = Module()
        m.submodules.window_r = window_r = self._segment(self.segment_r)
        m.submodules.window_s = window_s = self._segment(self.segment_s)
        m.submodules.merger = merger = Merger(self.layout.result, 2)
        connect(m, merger.o, flipped(self.o_result))
        # The tuples that entered last.
        r, s = Signal(self.layout.slot), Signal(self.layout.slot)
        m.d.comb += [
            window_r.entering.eq(r),
            window_s.entering.eq(s),
            self.o_r.eq(window_r.leaving),
            self.o_s.eq(window_s.leaving),
        ]
        asks_r, asks_s = self._control(m, window_r, window_s, r, s)
        full_r, busy_r = self._compare(m, "r", asks_s, r, window_s.scanned, merger.i[0])
        full_s, busy_s = self._compare(m, "s", asks_r, window_r.scanned, s, merger.i[1])
        m.d.comb += [self.full.eq(full_r | full_s), self.busy.eq(Cat(merger.busy, busy_r, busy_s).any())]
        return m

    def _control(self, m, window_r, window_s, r, s):
        """The state machine; returns which window is asked for a slot: R's for an S tuple, S's for an R tuple."""
        entered_r, entered_s = Signal(), Signal()
        index = Signal(range(max(self.segment_r, self.segment_s)))
        last = Signal.like(index)
        asks_r, asks_s = Signal(), Signal()
        m.d.sync += [signal.eq(0) for window in (window_r, window_s) for signal in (window.step, window.write)]

        def shift(window):
            m.d.sync += [window.step.eq(1), window.write.eq(1)]

        command = self.command
        with m.FSM():
            with m.State("READY"):
                m.d.comb += [
                    self.leaves_r.eq(command.run & command.enter_r),
                    self.leaves_s.eq(command.run & command.enter_s),
                ]
                with m.If(command.run & (command.enter_r | command.enter_s)):
                    m.d.sync += [
                        r.eq(self.i_r),
                        s.eq(self.i_s),
                        r.valid.eq(self.i_r.valid & command.enter_r),
                        s.valid.eq(self.i_s.valid & command.enter_s),
                        entered_r.eq(command.enter_r),
                        entered_s.eq(command.enter_s),
                        last.eq(self._last_slot()),
                    ]
                    with m.If(command.enter_r):
                        shift(window_r)
                    m.next = "SCAN"
            with m.State("SCAN"):
                with m.If(command.run):
                    m.d.comb += [
                        asks_r.eq(entered_s & (index < self.segment_r)),
                        asks_s.eq(entered_r & (index < self.segment_s)),
                    ]
                    m.d.sync += [window_r.step.eq(asks_r), window_s.step.eq(asks_s)]
                    with m.If(index == last):
                        m.d.sync += index.eq(0)
                        m.next = "TURN"
                    with m.Else():
                        m.d.sync += index.eq(index + 1)
            with m.State("TURN"):
                with m.If(command.run):
                    with m.If(entered_s):
                        shift(window_s)
                    m.next = "SHIFT"
            with m.State("SHIFT"):
                with m.If(command.run):
                    m.next = "FIND"
            with m.State("FIND"):
                with m.If(command.run):
                    m.next = "READY"
        return asks_r, asks_s

    def _last_slot(self):
        """The slot at which the scan of a command ends: of the longer window, if both streams have a tuple."""
        of_r, of_s = self.segment_s - 1, self.segment_r - 1
        return Mux(self.command.enter_r, Mux(self.command.enter_s, max(of_r, of_s), of_r), of_s)

    def _compare(self, m, name, asks, r, s, port):
        """One process: compare two slots, one of which is shown in the second cycle after it was asked for.

        Returns whether there is no more room for results, and what says that something is under way.
        """
        m.submodules[f"comparator_{name}"] = comparator = self._comparator()
        connect(m, comparator.o, port)
        shown = Signal(2, name=f"shown_{name}")
        m.d.sync += shown.eq(Cat(asks, shown))
        m.d.comb += [
            comparator.i.r.eq(r.tuple),
            comparator.i.s.eq(s.tuple),
            comparator.i.valid.eq(shown[-1] & r.valid & s.valid),
        ]
        return comparator.full, Cat(shown, comparator.under_way, comparator.waiting)
