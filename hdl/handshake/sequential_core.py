"""The join core of Oge et al. 2011: one comparison a cycle."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lockstep.compare_pipeline import ComparePipeline
from streamjoin.hdl.lockstep.core import JoinCore
from streamjoin.hdl.lockstep.segment import SEGMENTS


class SequentialCore(JoinCore):
    """The state machine of Oge et al. 2011, figure 4, state by state.

    State 0 initialises. State 1 is ready for a command. States 2 and 3 read the inputs into two buffer registers.
    State 4 goes on to state 5 if an R tuple entered: the R window shifts, and the tuple is compared with one S slot a
    cycle. State 6 goes on to state 7 if an S tuple entered: likewise, against R.

    So a pair costs ``scan_r + scan_s + 5`` cycles, a lone R tuple ``scan_r + 5``, a lone S tuple ``scan_s + 5``; a
    command to skip the comparisons costs 6.
    Comparing is pipelined behind the state machine: a slot is asked for, and shown; then a :class:`ComparePipeline`
    holds it beside the tuple that it is compared with, and compares.

    Parameters
    ----------
    scan_r, scan_s
        How many cycles to scan for an R or an S tuple: the longest S or R segment of all cores, so that cores with
        unequal segments stay in step.
    storage
        ``"registers"`` or ``"memory"``.
    queue
        Results that may wait here before the core asks for a halt.
    """

    #: States of a command apart from the two scans: 1, 2, 3, 4 and 6.
    OVERHEAD = 5
    #: From the state machine's last cycle to the result queue: ask, show, and the comparator.
    latency = 2 + ComparePipeline.LATENCY
    #: States 1 to 4, the shift, and the read of the slot that is the oldest then.
    glance: int = 7

    def __init__(
        self,
        layout: TupleLayout,
        *,
        segment_r: int,
        segment_s: int,
        scan_r: int,
        scan_s: int,
        storage: str,
        queue: int,
        reaction: int,
    ):
        self._segment = lambda length: SEGMENTS[storage](layout, length)
        self._scan_r = scan_r
        self._scan_s = scan_s
        self._comparator = lambda: ComparePipeline(layout, queue=queue, margin=reaction + self.latency)
        super().__init__(layout, segment_r=segment_r, segment_s=segment_s, reaction=reaction)

    @classmethod
    def pace(cls, scan_r: int, scan_s: int) -> Pace:
        return Pace(r=cls.OVERHEAD + scan_r, s=cls.OVERHEAD + scan_s, both=cls.OVERHEAD + scan_r + scan_s)

    def elaborate(self, platform):
        m = Module()
        m.submodules.window_r = window_r = self._segment(self.segment_r)
        m.submodules.window_s = window_s = self._segment(self.segment_s)
        # The input buffer registers.
        buffer_r, buffer_s = Signal(self.layout.slot), Signal(self.layout.slot)
        m.d.comb += [
            window_r.entering.eq(buffer_r),
            window_s.entering.eq(buffer_s),
            self.o_r.eq(window_r.leaving),
            self.o_s.eq(window_s.leaving),
        ]
        takes = Signal()
        with m.If(takes):
            m.d.sync += [buffer_r.eq(self.i_r), buffer_s.eq(self.i_s)]
        asks_r, asks_s = self._control(m, window_r, window_s, takes)
        self._compare(m, window_r, window_s, buffer_r, buffer_s, asks_r, asks_s)
        return m

    def _control(self, m, window_r, window_s, takes):
        """The state machine; returns which window is asked for a slot: R's for an S tuple, S's for an R tuple."""
        # Which of the input buffers this command fills.
        valid_r, valid_s = Signal(), Signal()
        skip = Signal()
        index = Signal(range(max(self._scan_r, self._scan_s)))
        asks_r, asks_s = Signal(), Signal()
        # What moves whole tuples comes straight out of registers, up in the first cycle of states 3, 5 and 7.
        m.d.sync += [takes.eq(0), *(signal.eq(0) for w in (window_r, window_s) for signal in (w.step, w.write))]
        m.d.comb += [self.leaves_r.eq(takes & valid_r), self.leaves_s.eq(takes & valid_s)]

        def shift(window):
            m.d.sync += [window.step.eq(1), window.write.eq(1)]

        def scan(window, asks, cycles, following):
            """Go through a window, then on to the next state."""
            last = skip | (index == cycles - 1)
            with m.If(self.command.run):
                # Where neighbours hold more tuples, the last cycles find nothing here.
                with m.If(~skip & (index < window.length)):
                    m.d.sync += window.step.eq(1)
                    m.d.comb += asks.eq(1)
                with m.If(last):
                    m.d.sync += index.eq(0)
                    m.next = following
                with m.Else():
                    m.d.sync += index.eq(index + 1)

        with m.FSM():
            with m.State("STATE0"):
                m.next = "STATE1"
            with m.State("STATE1"):
                m.d.sync += [
                    valid_r.eq(self.command.enter_r),
                    valid_s.eq(self.command.enter_s),
                    skip.eq(self.command.skip),
                ]
                with m.If(self.command.run & (self.command.enter_r | self.command.enter_s)):
                    m.next = "STATE2"
            with m.State("STATE2"):
                with m.If(self.command.run):
                    m.d.sync += takes.eq(1)
                    m.next = "STATE3"
            with m.State("STATE3"):
                with m.If(self.command.run):
                    m.next = "STATE4"
            with m.State("STATE4"):
                with m.If(self.command.run & valid_r):
                    shift(window_r)
                    m.next = "STATE5"
                with m.Elif(self.command.run):
                    m.next = "STATE6"
            with m.State("STATE5"):
                scan(window_s, asks_s, self._scan_r, "STATE6")
            with m.State("STATE6"):
                with m.If(self.command.run & valid_s):
                    shift(window_s)
                    m.next = "STATE7"
                with m.Elif(self.command.run):
                    m.next = "STATE1"
            with m.State("STATE7"):
                scan(window_r, asks_r, self._scan_s, "STATE1")
        return asks_r, asks_s

    def _compare(self, m, window_r, window_s, buffer_r, buffer_s, asks_r, asks_s):
        """One comparator for both scans, behind the state machine; meanwhile no command changes the buffers."""
        m.submodules.comparator = comparator = self._comparator()
        connect(m, comparator.o, flipped(self.o_result))
        # A slot is shown in the second cycle after it was asked for.
        for_r, for_s = Signal(2), Signal(2)
        m.d.sync += [
            for_r.eq(Cat(asks_s & buffer_r.valid, for_r)),
            for_s.eq(Cat(asks_r & buffer_s.valid, for_s)),
        ]
        pair = comparator.i
        m.d.comb += [
            pair.r.eq(buffer_r.tuple),
            pair.s.eq(window_s.scanned.tuple),
            pair.valid.eq(for_r[-1] & window_s.scanned.valid),
        ]
        with m.If(for_s[-1]):
            m.d.comb += [
                pair.r.eq(window_r.scanned.tuple),
                pair.s.eq(buffer_s.tuple),
                pair.valid.eq(window_r.scanned.valid),
            ]
        m.d.comb += [
            self.full.eq(comparator.full),
            self.busy.eq(Cat(for_r, for_s, comparator.under_way).any() | comparator.waiting),
        ]
