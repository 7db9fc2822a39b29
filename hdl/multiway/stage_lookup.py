"""The hash join core of a stage: the window of one stream, found by key, and a walk for each depth of combination."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, memory

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.hashing import bucket_of
from streamjoin.hdl.lib.one_hot import highest_set
from streamjoin.hdl.lib.ram import NEVER_COLLIDES
from streamjoin.hdl.lib.ring import between
from streamjoin.hdl.multiway.combination import Combination
from streamjoin.hdl.multiway.stage_scan import core_ports, keep_order, look_up
from streamjoin.hdl.multiway.window_places import WindowPlaces


class StageLookup(Part):
    """A :class:`StageScan` that compares only with tuples whose keys hash to the same bucket.

    The tuples of a bucket are linked from the youngest back, as in a hash window store, which
    says why nothing needs to be taken out. A walk for an arrival begins with the youngest tuple of its bucket. What was
    stored after the arrival is passed over; the walk ends where a tuple is not before the last one, or before the
    arrival's view. A place that has been used again since it was linked holds a tuple that came after the view, or one
    of another bucket: if there were one of this bucket between, the link would lead to it. What a bucket points at
    before its first tuple has to be a place, for the same reasons as there.

    Cost. A walk takes two cycles for each tuple that it sees, and about six besides; walks of several depths take
    turns. An arrival is stored in every cycle, if need be. Before the first one after a reset, there has to be a cycle
    for each bucket.

    Parameters
    ----------
    combination
        Layouts, of an equi-join.
    places
        Those of the window, in one lane.
    depths
        As in :class:`StageScan`.
    buckets
        A power of two.

    Members
    -------
    passes, arrival, free, i, o, pause
        As there.
    """

    #: From the cycle in which a tuple is looked at to the one in which it is given out.
    LATENCY = 3
    #: Matches that may come after ``pause`` went up.
    RESERVE = LATENCY

    def __init__(self, combination: Combination, places: WindowPlaces, depths: int, *, buckets: int):
        if places.lanes != 1:
            raise ValueError(f"buckets are for rows of one tuple, not {places.lanes}")
        self._combination = combination
        self._places = places
        self._buckets = buckets
        super().__init__(core_ports(combination, places, depths))

    def elaborate(self, platform):
        m = Module()
        depths = len(self.i)
        row = self._places.place["row"].shape
        order = keep_order(m, self, self._places)
        takes, wants, shows, ends = (Signal(depths, name=name) for name in ("takes", "wants", "shows", "ends"))
        upcoming = look_up(m, self.i, order, takes)
        read, youngest = self._store(m, order, upcoming)

        reading = Signal(depths)
        m.d.comb += shows.eq(highest_set(wants))
        m.d.sync += reading.eq(shows)
        layout = data.StructLayout(
            {"at": row, "below": row, "first": row, "end": row, "probe": self._combination.probe}
        )
        walks = [Signal(layout, name=f"walk{n}", reset_less=True) for n in range(depths)]
        for n, (walk, next_) in enumerate(zip(walks, upcoming, strict=True)):
            active = Signal(name=f"active{n}")
            view = next_.view
            inside = between(walk.first, walk.at, walk.below)
            rests = active & ~reading[n] & ~self.pause[n]
            m.d.comb += [
                wants[n].eq(rests & inside),
                takes[n].eq(next_.known & ~active & ~self.pause[n]),
                ends[n].eq(Mux(active, rests & ~inside, takes[n] & next_.empty)),
            ]
            with m.If(takes[n]):
                beyond = view.first.row + view.whole
                end = Mux(beyond >= self._places.rows, beyond - self._places.rows, beyond)
                m.d.sync += [
                    active.eq(~next_.empty),
                    walk.at.eq(youngest[n]),
                    walk.below.eq(order.free.row),
                    walk.first.eq(view.first.row),
                    walk.end.eq(end),
                    walk.probe.eq(next_.probe),
                ]
            with m.Elif(ends[n]):
                m.d.sync += active.eq(0)
            with m.Elif(reading[n]):
                m.d.sync += [walk.at.eq(read.data.before), walk.below.eq(walk.at)]
            with m.If(shows[n]):
                m.d.comb += read.addr.eq(walk.at)
        self._compare(m, read, walks, reading, ends)
        return m

    def _store(self, m, order, upcoming):
        """Tuples with the place of the one before in their bucket; for each depth, the youngest in the bucket."""
        layout, row = self._combination.layout, self._places.place["row"].shape
        resting = data.StructLayout({"compared": layout.compared, "before": row})
        m.submodules.tuples = tuples = memory.Memory(
            shape=resting, depth=self._places.rows, init=[], attrs=NEVER_COLLIDES
        )
        m.submodules.heads = heads = memory.Memory(shape=row, depth=self._buckets, init=[], attrs=NEVER_COLLIDES)
        write, read = tuples.write_port(), tuples.read_port()
        write_head, read_head, look = heads.write_port(), heads.read_port(), heads.read_port()
        # A cycle after a tuple has passed the youngest of its bucket is known, unless that is only being stored.
        bucket = bucket_of(self.arrival.tuple.key, self._buckets)
        storing, again = Signal(), Signal()
        place, last_place = Signal(row, reset_less=True), Signal(row, reset_less=True)
        tuple_ = Signal(layout.compared, reset_less=True)
        stored = Signal(range(self._buckets))
        clearing = Signal(init=1)
        m.d.comb += [
            read_head.addr.eq(bucket),
            write.addr.eq(place),
            write.data.compared.eq(tuple_),
            write.data.before.eq(Mux(again, last_place, read_head.data)),
            write.en.eq(storing),
            write_head.addr.eq(stored),
            write_head.data.eq(place),
            write_head.en.eq(storing | clearing),
        ]
        m.d.sync += [
            storing.eq(order.passes & order.own),
            again.eq(storing & (stored == bucket)),
            last_place.eq(place),
            place.eq(order.free.row),
            tuple_.eq(layout.part(layout.compared, self.arrival.tuple)),
            stored.eq(bucket),
        ]
        # Bucket by bucket, with a place that is free.
        with m.If(clearing):
            m.d.sync += [stored.eq(stored + 1), clearing.eq(stored != self._buckets - 1)]
        # Asked for together with the view, and known together with it.
        youngest = [Signal(row, name=f"youngest{n}", reset_less=True) for n in range(len(self.i))]
        for n, port in enumerate(self.i):
            with m.If(upcoming[n].asked):
                m.d.comb += look.addr.eq(bucket_of(port.p.probe.previous.key, self._buckets))
            with m.If(upcoming[n].found):
                m.d.sync += youngest[n].eq(look.data)
        return read, youngest

    def _compare(self, m, read, walks, reading, ends):
        """What was looked at, register by register."""
        row = self._places.place["row"].shape
        layout = data.StructLayout(
            {"row": row, "depth": len(walks), "ends": len(walks), "counts": 1, "probe": self._combination.probe}
        )
        looked_at, comparing, given = (Signal(layout, name=name) for name in ("looked_at", "comparing", "given"))
        # Ends take as long as what is read, and so come behind it.
        ends_begun = Signal(len(walks))
        m.d.sync += ends_begun.eq(ends)
        m.d.comb += [looked_at.depth.eq(reading), looked_at.ends.eq(ends_begun)]
        for n, walk in enumerate(walks):
            with m.If(reading[n]):
                m.d.comb += [
                    looked_at.row.eq(walk.at),
                    looked_at.counts.eq(between(walk.first, walk.at, walk.end)),
                    looked_at.probe.eq(walk.probe),
                ]
        resting = Signal(self._combination.layout.compared, reset_less=True)
        found = Signal()
        matches = self._combination.matches(comparing.probe, resting, after=True, before=False, closes=0)
        m.d.sync += [
            comparing.eq(looked_at),
            resting.eq(read.data.compared),
            given.eq(comparing),
            found.eq(matches & comparing.counts),
        ]
        for n, port in enumerate(self.o):
            m.d.comb += [
                port.valid.eq(given.ends[n] | (given.depth[n] & found)),
                port.match.row.eq(given.row),
                port.match.found.eq(found & ~given.ends[n]),
                port.match.last.eq(given.ends[n]),
            ]
