"""The join core of paper 001: one comparison a cycle."""

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.core import JoinCore, Pace
from streamjoin.hdl.pairing import Pairing
from streamjoin.hdl.queue import Queue
from streamjoin.hdl.segment import SEGMENTS


class SequentialCore(JoinCore):
    """The state machine of paper 001, figure 4, state by state.

    State 0 initialises. State 1 is ready for a command. States 2 and 3 read the inputs into two buffer registers.
    State 4 goes on to state 5 if an R tuple entered: the R window shifts, and the tuple is compared with one S slot a
    cycle. State 6 goes on to state 7 if an S tuple entered: likewise, against R.

    So a pair costs ``scan_r + scan_s + 5`` cycles, a lone R tuple ``scan_r + 5``, a lone S tuple ``scan_s + 5``; a
    command to skip the comparisons costs 6.
    Comparing is pipelined behind the state machine: a slot read in one cycle is compared in the next and is in the
    result queue one cycle later.

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
    #: From the state machine's last cycle to the result queue: read, compare.
    latency = 2
    #: States 1 to 4, the shift, and the read of the slot that is the oldest then.
    glance = 7

    def __init__(
        self,
        pairing: Pairing,
        *,
        segment_r: int,
        segment_s: int,
        scan_r: int,
        scan_s: int,
        storage: str,
        queue: int,
        reaction: int,
    ):
        self._segment = lambda length, indices: SEGMENTS[storage](pairing, length, indices)
        self._scan_r = scan_r
        self._scan_s = scan_s
        self._margin = reaction + self.latency
        self._queue = queue + self._margin
        super().__init__(pairing, segment_r=segment_r, segment_s=segment_s, reaction=reaction)

    @classmethod
    def pace(cls, scan_r: int, scan_s: int) -> Pace:
        return Pace(r=cls.OVERHEAD + scan_r, s=cls.OVERHEAD + scan_s, both=cls.OVERHEAD + scan_r + scan_s)

    def elaborate(self, platform):
        m = Module()
        m.submodules.window_r = window_r = self._segment(self.segment_r, self._scan_s)
        m.submodules.window_s = window_s = self._segment(self.segment_s, self._scan_r)
        m.submodules.results = results = Queue(self.pairing.result, self._queue, margin=self._margin)
        connect(m, results.o, flipped(self.o_result))

        # The input buffer registers, and which of them this command fills.
        buffer_r = Signal(self.pairing.slot)
        buffer_s = Signal(self.pairing.slot)
        valid_r = Signal()
        valid_s = Signal()
        skip = Signal()
        index = Signal(range(max(self._scan_r, self._scan_s)))
        m.d.comb += [
            window_r.entering.eq(buffer_r),
            window_s.entering.eq(buffer_s),
            window_r.index.eq(index),
            window_s.index.eq(index),
            self.o_r.eq(window_r.leaving),
            self.o_s.eq(window_s.leaving),
        ]

        def scan(entering, scanned, cycles, following):
            """Shift in the first cycle of the scan, go through the other window, then on to the next state."""
            last = skip | (index == cycles - 1)
            m.d.comb += [entering.shift.eq(self.command.run & (index == 0)), scanned.scan.eq(1)]
            with m.If(self.command.run):
                with m.If(last):
                    m.d.sync += index.eq(0)
                    m.next = following
                with m.Else():
                    m.d.sync += index.eq(index + 1)

        with m.FSM() as states:
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
                    m.next = "STATE3"
            with m.State("STATE3"):
                with m.If(self.command.run):
                    m.d.comb += [self.leaves_r.eq(valid_r), self.leaves_s.eq(valid_s)]
                    m.d.sync += [buffer_r.eq(self.i_r), buffer_s.eq(self.i_s)]
                    m.next = "STATE4"
            with m.State("STATE4"):
                with m.If(self.command.run & valid_r):
                    m.next = "STATE5"
                with m.Elif(self.command.run):
                    m.next = "STATE6"
            with m.State("STATE5"):
                scan(window_r, window_s, self._scan_r, "STATE6")
            with m.State("STATE6"):
                with m.If(self.command.run & valid_s):
                    m.next = "STATE7"
                with m.Elif(self.command.run):
                    m.next = "STATE1"
            with m.State("STATE7"):
                scan(window_s, window_r, self._scan_s, "STATE1")

        # One comparator for both scans, a cycle behind the state machine.
        for_r = Signal()
        for_s = Signal()
        m.d.sync += [
            for_r.eq(self.command.run & states.ongoing("STATE5") & buffer_r.valid),
            for_s.eq(self.command.run & states.ongoing("STATE7") & buffer_s.valid),
        ]
        r = Signal(self.pairing.slot)
        s = Signal(self.pairing.slot)
        m.d.comb += [r.eq(buffer_r), s.eq(window_s.scanned)]
        with m.If(for_s):
            m.d.comb += [r.eq(window_r.scanned), s.eq(buffer_s)]
        found = Signal()
        pair = Signal(self.pairing.result, reset_less=True)
        m.d.sync += [
            found.eq((for_r | for_s) & r.valid & s.valid & self.pairing.matches(r.tuple, s.tuple)),
            *self.pairing.join(pair, r.tuple, s.tuple),
        ]
        m.d.comb += [
            results.i.p.eq(pair),
            results.i.valid.eq(found),
            self.full.eq(results.almost_full),
            self.busy.eq(found | for_r | for_s | results.o.valid),
        ]
        return m
