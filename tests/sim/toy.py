"""A join small enough to be read at a glance, on which the simulator itself is tested."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part

TUPLE = data.StructLayout({"key": 8, "payload": 33})
RESULT = data.StructLayout({"key": 8, "r": 33, "s": 33})


class Slot(Part):
    """Holds the latest beat and offers it until it is taken; one beat at a time."""

    i: In(stream.Signature(RESULT))
    o: Out(stream.Signature(RESULT))

    def elaborate(self, _) -> Module:
        m = Module()
        m.d.comb += self.i.ready.eq(~self.o.valid | self.o.ready)
        with m.If(self.i.ready):
            m.d.sync += [self.o.valid.eq(self.i.valid), self.o.payload.eq(self.i.payload)]
        return m


class Toy(wiring.Component):
    """Joins each arrival with the latest tuple of the other stream, if their keys are equal: windows of one tuple.

    Takes R and S in one cycle unless both have a match; an arrival with a match waits until there is room for it. Two
    slots carry a result to the output.

    Parameters
    ----------
    stuck_after
        Take only so many tuples, and then none.
    hasty
        Break the arrival order: take S even where R has to wait.
    drops
        Discard whatever arrives while the first slot is full, instead of waiting.
    """

    i_r: In(stream.Signature(TUPLE))
    i_s: In(stream.Signature(TUPLE))
    o_result: Out(stream.Signature(RESULT))
    drain: In(1)
    drained: Out(1)
    discarding: Out(1)
    halted: Out(1)
    dropped: Out(32)
    overflows: Out(32)

    def __init__(self, *, stuck_after: int | None = None, hasty: bool = False, drops: bool = False) -> None:
        self._stuck_after, self._hasty, self._drops = stuck_after, hasty, drops
        super().__init__()

    def elaborate(self, _) -> Module:
        m = Module()
        m.submodules.slot_0 = first = Slot()
        m.submodules.slot_1 = second = Slot()
        connect(m, first.o, second.i)
        connect(m, second.o, flipped(self.o_result))

        latest_r, latest_s = Signal(TUPLE), Signal(TUPLE)
        seen_r, seen_s = Signal(), Signal()
        r, s = self.i_r.payload, self.i_s.payload
        match_r, match_s, together = Signal(), Signal(), Signal()
        m.d.comb += [
            match_r.eq(self.i_r.valid & seen_s & (r.key == latest_s.key)),
            together.eq(self.i_r.valid & self.i_s.valid),
            # R comes first: an S of the same cycle already meets it.
            match_s.eq(self.i_s.valid & Mux(self.i_r.valid, s.key == r.key, seen_r & (s.key == latest_r.key))),
        ]

        taken = Signal(32)
        open_ = Signal(init=1) if self._stuck_after is None else taken < self._stuck_after
        room = first.i.ready
        m.d.comb += [
            self.discarding.eq(room == 0 if self._drops else 0),
            self.halted.eq((match_r | match_s) & ~room),
            self.i_r.ready.eq(open_ & (room | ~match_r | self.discarding)),
            self.i_s.ready.eq(open_ & (room | ~match_s | self.discarding)),
            self.drained.eq(self.drain & ~first.o.valid & ~second.o.valid),
        ]
        if not self._hasty:
            with m.If(together & ((match_r & match_s) | ~self.i_r.ready)):
                m.d.comb += self.i_s.ready.eq(0)

        take_r, take_s = Signal(), Signal()
        m.d.comb += [
            take_r.eq(self.i_r.valid & self.i_r.ready),
            take_s.eq(self.i_s.valid & self.i_s.ready),
            first.i.valid.eq(((take_r & match_r) | (take_s & match_s)) & ~self.discarding),
            first.i.payload.key.eq(Mux(take_r & match_r, r.key, s.key)),
            first.i.payload.r.eq(Mux(take_r, r.payload, latest_r.payload)),
            first.i.payload.s.eq(Mux(take_s & match_s, s.payload, latest_s.payload)),
        ]
        m.d.sync += taken.eq(taken + take_r + take_s)
        with m.If(self.discarding):
            m.d.sync += self.dropped.eq(self.dropped + take_r + take_s)
        with m.Else():
            with m.If(take_r):
                m.d.sync += [latest_r.eq(r), seen_r.eq(1)]
            with m.If(take_s):
                m.d.sync += [latest_s.eq(s), seen_s.eq(1)]
        return m


def expected(key, stream_of, taken=None) -> list[tuple[int, int, int]]:
    """The results (key, r, s) of the toy in plain Python, where the payload of a tuple is its arrival number."""
    latest: dict[int, int] = {}
    results = []
    for arrival, own in enumerate(stream_of):
        if taken is not None and not taken[arrival]:
            continue
        other = latest.get(1 - own)
        latest[own] = arrival
        if other is not None and key[other] == key[arrival]:
            r, s = (arrival, other) if own == 0 else (other, arrival)
            results.append((int(key[arrival]), r, s))
    return results
