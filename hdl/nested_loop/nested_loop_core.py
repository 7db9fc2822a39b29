"""The baseline core: both windows whole, each scanned one comparison a cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.merger import Merger
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
    #: From the last cycle of a scan to the result queue: ask, show, hold, compare.
    latency = 4

    def __init__(self, layout: TupleLayout, *, segment_r: int, segment_s: int, storage: str, queue: int, reaction: int):
        self._segment = lambda length: SEGMENTS[storage](layout, length)
        self._margin = reaction + self.latency
        self._queue = queue + self._margin
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

        r = Signal(self.layout.slot)
        s = Signal(self.layout.slot)
        entered_r = Signal()
        entered_s = Signal()
        index = Signal(range(max(self.segment_r, self.segment_s)))
        last = Signal.like(index)
        m.d.comb += [
            window_r.entering.eq(r),
            window_s.entering.eq(s),
            self.o_r.eq(window_r.leaving),
            self.o_s.eq(window_s.leaving),
        ]

        m.d.sync += [signal.eq(0) for window in (window_r, window_s) for signal in (window.step, window.write)]

        def shift(window):
            m.d.sync += [window.step.eq(1), window.write.eq(1)]

        # Which window is asked for a slot: R's for an S tuple, S's for an R tuple.
        asks_r = Signal()
        asks_s = Signal()
        with m.FSM():
            with m.State("READY"):
                enters = self.command.run & (self.command.enter_r | self.command.enter_s)
                m.d.comb += [
                    self.leaves_r.eq(self.command.run & self.command.enter_r),
                    self.leaves_s.eq(self.command.run & self.command.enter_s),
                ]
                with m.If(enters):
                    lengths = {"r": self.segment_s - 1, "s": self.segment_r - 1}
                    longer = max(lengths.values())
                    m.d.sync += [
                        r.eq(self.i_r),
                        s.eq(self.i_s),
                        r.valid.eq(self.i_r.valid & self.command.enter_r),
                        s.valid.eq(self.i_s.valid & self.command.enter_s),
                        entered_r.eq(self.command.enter_r),
                        entered_s.eq(self.command.enter_s),
                        last.eq(
                            Mux(self.command.enter_r, Mux(self.command.enter_s, longer, lengths["r"]), lengths["s"])
                        ),
                    ]
                    with m.If(self.command.enter_r):
                        shift(window_r)
                    m.next = "SCAN"
            with m.State("SCAN"):
                with m.If(self.command.run):
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
                with m.If(self.command.run):
                    with m.If(entered_s):
                        shift(window_s)
                    m.next = "SHIFT"
            with m.State("SHIFT"):
                with m.If(self.command.run):
                    m.next = "FIND"
            with m.State("FIND"):
                with m.If(self.command.run):
                    m.next = "READY"

        full, busy = [], [merger.busy]
        for name, port, asks, left, right in (
            ("r", merger.i[0], asks_s, r, window_s.scanned),
            ("s", merger.i[1], asks_r, window_r.scanned, s),
        ):
            m.submodules[f"results_{name}"] = results = FIFO(self.layout.result, self._queue, margin=self._margin)
            connect(m, results.o, port)
            shown = Signal(2, name=f"shown_{name}")
            compared = Signal(name=f"compared_{name}")
            held = [Signal(self.layout.tuple, name=f"held_{name}_{side}", reset_less=True) for side in "rs"]
            found = Signal(name=f"found_{name}")
            pair = Signal(self.layout.result, name=f"pair_{name}", reset_less=True)
            m.d.sync += [
                shown.eq(Cat(asks, shown)),
                compared.eq(shown[-1] & left.valid & right.valid),
                *(one.eq(side.tuple) for one, side in zip(held, (left, right), strict=True)),
                found.eq(compared & self.layout.matches(*held)),
                *self.layout.join(pair, *held),
            ]
            m.d.comb += [results.i.p.eq(pair), results.i.valid.eq(found)]
            full.append(results.almost_full)
            busy += [shown, compared, found, results.busy]
        m.d.comb += [self.full.eq(full[0] | full[1]), self.busy.eq(Cat(busy).any())]
        return m
