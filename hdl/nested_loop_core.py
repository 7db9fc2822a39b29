"""The baseline core: both windows whole, each scanned one comparison a cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.core import JoinCore, Pace
from streamjoin.hdl.merger import Merger
from streamjoin.hdl.pairing import Pairing
from streamjoin.hdl.queue import Queue
from streamjoin.hdl.segment import SEGMENTS


class NestedLoopCore(JoinCore):
    """Two matching processes side by side: the new R tuple goes through S while the new S tuple goes through R.

    The R tuple is written before the scan, the S tuple in its last cycle, so the S tuple meets the new R tuple but
    not the other way round: each pair once. A scan lasts as long as the window it goes through, or the longer one if
    both streams have a tuple, plus the cycle of the command and one in which the segments find their oldest tuples.

    Parameters
    ----------
    storage
        ``"registers"`` or ``"memory"``.
    queue
        Results that may wait for each process before the core asks for a halt.
    """

    #: Cycles of a command apart from the scan.
    OVERHEAD = 2
    #: From the last cycle of a scan to the result queue: read, compare.
    latency = 2

    def __init__(self, pairing: Pairing, *, segment_r: int, segment_s: int, storage: str, queue: int, reaction: int):
        self._segment = lambda length: SEGMENTS[storage](pairing, length, max(segment_r, segment_s))
        self._margin = reaction + self.latency
        self._queue = queue + self._margin
        super().__init__(pairing, segment_r=segment_r, segment_s=segment_s, reaction=reaction)

    @classmethod
    def pace(cls, window_r: int, window_s: int) -> Pace:
        return Pace(r=cls.OVERHEAD + window_s, s=cls.OVERHEAD + window_r, both=cls.OVERHEAD + max(window_r, window_s))

    def elaborate(self, platform):
        m = Module()
        m.submodules.window_r = window_r = self._segment(self.segment_r)
        m.submodules.window_s = window_s = self._segment(self.segment_s)
        m.submodules.merger = merger = Merger(self.pairing.result, 2)
        connect(m, merger.o, flipped(self.o_result))

        r = Signal(self.pairing.slot)
        s = Signal(self.pairing.slot)
        entered_s = Signal()
        index = Signal(range(max(self.segment_r, self.segment_s)))
        last = Signal.like(index)
        m.d.comb += [
            window_r.entering.eq(self.i_r),
            window_s.entering.eq(s),
            window_r.index.eq(index),
            window_s.index.eq(index),
            self.o_r.eq(window_r.leaving),
            self.o_s.eq(window_s.leaving),
        ]

        scanning = Signal()
        with m.FSM():
            with m.State("READY"):
                enters = self.command.run & (self.command.enter_r | self.command.enter_s)
                m.d.comb += [
                    window_r.shift.eq(self.command.run & self.command.enter_r),
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
                        entered_s.eq(self.command.enter_s),
                        last.eq(
                            Mux(self.command.enter_r, Mux(self.command.enter_s, longer, lengths["r"]), lengths["s"])
                        ),
                    ]
                    m.next = "SCAN"
            with m.State("SCAN"):
                m.d.comb += [window_r.scan.eq(1), window_s.scan.eq(1), scanning.eq(self.command.run)]
                with m.If(self.command.run):
                    with m.If(index == last):
                        m.d.comb += window_s.shift.eq(entered_s)
                        m.d.sync += index.eq(0)
                        m.next = "TURN"
                    with m.Else():
                        m.d.sync += index.eq(index + 1)
            with m.State("TURN"):
                with m.If(self.command.run):
                    m.next = "READY"

        compared = Signal()
        m.d.sync += compared.eq(scanning)
        full, busy = [], [compared, merger.busy]
        for name, port, left, right in (
            ("r", merger.i[0], r, window_s.scanned),
            ("s", merger.i[1], window_r.scanned, s),
        ):
            m.submodules[f"results_{name}"] = results = Queue(self.pairing.result, self._queue, margin=self._margin)
            connect(m, results.o, port)
            found = Signal(name=f"found_{name}")
            pair = Signal(self.pairing.result, name=f"pair_{name}", reset_less=True)
            m.d.sync += [
                found.eq(compared & left.valid & right.valid & self.pairing.matches(left.tuple, right.tuple)),
                *self.pairing.join(pair, left.tuple, right.tuple),
            ]
            m.d.comb += [results.i.p.eq(pair), results.i.valid.eq(found)]
            full.append(results.almost_full)
            busy += [found, results.o.valid]
        m.d.comb += [self.full.eq(full[0] | full[1]), self.busy.eq(Cat(busy).any())]
        return m
