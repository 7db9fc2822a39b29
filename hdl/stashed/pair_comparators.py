"""The comparators of a stashed join's first stage: one lot for the windows of S1 and S2, and for the stash."""

from itertools import pairwise

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.multiway.lane_bank import LaneBank, row_layout
from streamjoin.hdl.multiway.match_arbiter import match_layout
from streamjoin.hdl.stashed.stash import is_behind
from streamjoin.hdl.stashed.stash_shape import StashShape


class PairComparators(Part):
    """Compares a row of tuples, or of pairs in the stash, in every cycle.

    Parameters
    ----------
    shape
        Layouts and places.

    Members
    -------
    shows, ends, row, source, probe
        As in :class:`streamjoin.hdl.stashed.stash_scheduler.StashScheduler`.
    one, two, counts
        ``LaneBank.LATENCY`` cycles later: the tuples of S1 and S2 in that row, and which lanes count.
    pairs, first
        Those of the stash; and the positions of the first tuples in the windows, for pairs that have left them.
    o
        For both queues of matches, what was found: in order, and at least once for each scan, where it ends.
    """

    #: From the cycle in which a row is chosen to the one in which matches are given out; rows that come after a pause.
    LATENCY = LaneBank.LATENCY + 1

    def __init__(self, shape: StashShape):
        self._shape = shape
        compared, lanes = shape.combination.layout.compared, shape.lanes
        super().__init__(
            {
                "shows": In(2),
                "ends": In(2),
                "row": In(row_layout(shape.widest)),
                "source": In(3 if shape.room else 2),
                "probe": In(shape.probe),
                "one": In(compared).array(lanes),
                "two": In(compared).array(lanes),
                "counts": In(lanes),
                **({"pairs": In(shape.compared).array(lanes), "first": In(shape.positions)} if shape.room else {}),
                "o": Out(data.StructLayout({"valid": 1, "match": match_layout(shape.widest)})).array(2),
            }
        )

    def elaborate(self, platform):
        m = Module()
        shape = self._shape
        shown = data.StructLayout(
            {
                "row": row_layout(shape.widest),
                "queue": 2,
                "ends": 2,
                "source": len(self.source),
                "probe": shape.probe,
            }
        )
        along = [Signal(shown, name=f"along{n}") for n in range(self.LATENCY + 1)]
        comparing, given = along[LaneBank.LATENCY], along[-1]
        m.d.comb += along[0].eq(Cat(self.row, self.shows, self.ends, self.source, self.probe))
        m.d.sync += [later.eq(now) for now, later in pairwise(along)]

        found = Signal(shape.lanes)
        m.d.sync += found.eq(Cat(self._matches(m, lane, comparing) for lane in range(shape.lanes)) & self.counts)
        for n, port in enumerate(self.o):
            m.d.comb += [
                port.valid.eq(given.ends[n] | (given.queue[n] & (found.any() | given.row.last))),
                *(port.match[name].eq(given.row[name]) for name in ("lane", "row", "next_row")),
                port.match.found.eq(Mux(given.ends[n], 0, found)),
                port.match.last.eq(given.ends[n] | given.row.last),
            ]
        return m

    def _matches(self, m, lane: int, comparing):
        """One bit: what rests in this lane goes with the probe."""
        shape, probe = self._shape, comparing.probe
        layout, keys = shape.combination.layout, shape.combination.keys
        resting = Signal(layout.compared, name=f"resting{lane}")
        m.d.comb += resting.eq(Mux(comparing.source[0], self.one[lane].as_value(), self.two[lane].as_value()))
        live = 1
        if shape.room:
            pair, in_stash = self.pairs[lane], comparing.source[2]
            with m.If(in_stash):
                m.d.comb += resting.eq(Cat(pair.keys, shape.time_of(pair)))
            live = ~in_stash | ~Cat(is_behind(pair[name], self.first[name]) for name in ("one", "two")).any()
        # The predicate is between a stream and the next.
        mine = layout.part(keys, resting).as_value()
        earlier, later = (Signal(keys, name=f"{name}{lane}") for name in ("earlier", "later"))
        m.d.comb += [
            earlier.eq(Mux(probe.is_one, probe.keys.as_value(), mine)),
            later.eq(Mux(probe.is_one, mine, probe.keys.as_value())),
        ]
        matching = Cat(layout.predicate.holds(earlier, later)).any() & live
        if shape.combination.span is not None:
            matching = matching & (probe.time - resting.time < shape.combination.span)
        return matching
