"""A hash window: the tuples of one stream, found by those of the other."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.hash.chain_walker import SLOTS, ChainWalker, walk_layout
from streamjoin.hdl.hash.head_table import HeadTable
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.hash.match_stage import MatchStage
from streamjoin.hdl.hash.slack_guard import SlackGuard
from streamjoin.hdl.hash.window_ring import WindowRing
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.pipeline import delayed


@dataclass(frozen=True)
class WindowSizes:
    """Sizes of a hash window.

    Attributes
    ----------
    ring
        Where its tuples are.
    depth
        Buckets in each bank, a power of two.
    queue, results
        Probes that may wait for the walker, and results that may wait for the output.
    """

    ring: WindowRing
    depth: int
    queue: int
    results: int


class HashWindow(Part):
    """In each cycle stores a tuple of one stream and looks up partners for one of the other, in this order.

    Tuples stay where they arrive, in a ring (:class:`WindowRing`). The table knows the youngest tuple of each bucket,
    each tuple how far back the next older one of its bucket is. Who looks for partners reads the table once, and then
    walks from tuple to tuple (:class:`ChainWalker`).

    Why a walk sees all it should and nothing twice. The ring has more places than the window, so the distance of a
    tuple that is in the window is known from its place; a distance greater than that of the oldest tuple in the window,
    or than that of the first since the reset, ends a walk. All links are checked so when they are stored, against the
    window at that time: each leads to a tuple that really came, and was in the window then. So from the youngest tuple
    of a bucket links lead to all the others of the bucket that a walk has to see, one after the other, and ever further
    back. What the table holds of a bucket that has seen no tuple for long, or none since the reset, may by its place
    look like a tuple of the window, of another bucket; its links, too, lead to tuples that came, ever further back.
    Such a walk finds no key that it looks for, unless in the bank to which it does not belong (:class:`KeyGroups`).

    Nothing is done when a tuple expires, nor after a reset. Where a memory holds what a simulator takes for unknown, no
    distance can be compared, and the walk does not begin: what depends on it is up only where a condition is.

    Cost. A walk takes four cycles a visit, and four walks are under way at a time; so the visits of all walks take one
    cycle each, if there are enough. A tuple that finds its buckets empty costs nothing.

    Parameters
    ----------
    layout
        Layouts and join condition.
    side
        ``"r"`` or ``"s"``: whose tuples are stored.
    groups
        Which keys share a bucket.
    sizes
        How large everything is.
    reserve
        Probes that may still begin their walks after ``room`` went down: those on their way through the tables, too.

    Members
    -------
    enter, tuple, bank, bucket
        A tuple to be stored, its bank, and its bucket there.
    leave
        The oldest tuple leaves the window.
    probes, probe, wanted, looked_up
        A tuple that looks for partners, in which banks, and in which bucket of each.
    room
        Probes may come.
    o
        Results.
    busy
        There is something inside.
    """

    #: Cycles from a probe to the queue in front of the walker.
    LATENCY = HeadTable.LATENCY + 2

    def __init__(
        self,
        layout: TupleLayout,
        side: str,
        groups: KeyGroups,
        sizes: WindowSizes,
        *,
        reserve: int,
    ):
        self._layout = layout
        self._side = side
        self._groups = groups
        self._sizes = sizes
        self._reserve = reserve
        bucket = max(1, ceil_log2(sizes.depth))
        super().__init__(
            {
                "enter": In(1),
                "tuple": In(layout.tuple),
                "bank": In(1),
                "bucket": In(bucket),
                "leave": In(1),
                "probes": In(1),
                "probe": In(layout.tuple),
                "wanted": In(groups.banks),
                "looked_up": In(data.ArrayLayout(bucket, groups.banks)),
                "room": Out(1),
                "o": Out(layout.results),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        ring, banks = self._sizes.ring, self._groups.banks
        m.submodules.walker = walker = ChainWalker(ring, banks)
        m.submodules.matches = matches = MatchStage(self._layout, self._side, ring, self._groups, self._sizes.results)
        waits = data.StructLayout({"probe": self._layout.tuple, "request": walker.i.p.shape()})
        m.submodules.waiting = waiting = FIFO.with_reserve(waits, self._sizes.queue, self._reserve)
        m.submodules.guard = guard = SlackGuard(ring.epoch, most=waiting.depth + 1 + SLOTS)

        # The number of the next tuple, and how many are in the window.
        number, live = ring.count(m, self.enter), Signal(range(ring.window + 1))
        with m.If(self.enter & ~self.leave):
            m.d.sync += live.eq(live + 1)
        with m.Elif(self.leave & ~self.enter):
            m.d.sync += live.eq(live - 1)
        befores, youngests = self._look_up(m, number)
        self._link(m, walker, number, live, befores)

        under_way = Signal(self.LATENCY)
        m.d.sync += under_way.eq(under_way << 1 | self.probes)
        some, walks = self._walks(m, number, live, youngests)
        begins = Signal()
        request = waiting.i.p.request
        m.d.comb += [
            begins.eq(under_way[-1] & some.any()),
            waiting.i.valid.eq(begins),
            waiting.i.p.probe.eq(delayed(m, self.probe, self.LATENCY, name="probe")),
            request.epoch.eq(guard.now),
            request.walk.eq(walks[0]),
        ]
        if banks == 2:
            m.d.comb += [
                request.walk.eq(Mux(some[0], walks[0].as_value(), walks[1].as_value())),
                request.bank.eq(~some[0]),
                request.further.eq(walks[1]),
                request.more.eq(some.all()),
            ]
        connect(m, matches.o, flipped(self.o))
        m.d.comb += [
            guard.arrives.eq(self.enter),
            guard.begins.eq(begins),
            guard.ends.eq(walker.ends),
            guard.ended.eq(walker.ended),
            walker.i.valid.eq(waiting.o.valid),
            walker.i.p.eq(waiting.o.p.request),
            waiting.o.ready.eq(walker.i.ready),
            walker.go.eq(matches.go),
            matches.enter.eq(self.enter),
            matches.place.eq(number.place),
            matches.tuple.eq(self.tuple),
            matches.begins.eq(walker.i.ready),
            matches.slot.eq(walker.slot),
            matches.probe.eq(waiting.o.p.probe),
            matches.visits.eq(walker.visits),
            matches.visit.eq(walker.visit),
            self.busy.eq(under_way.any() | waiting.busy | walker.busy | matches.busy),
        ]
        m.d.sync += self.room.eq(~waiting.almost_full & ~guard.halt)
        return m

    def _look_up(self, m, number):
        """What the banks hold: the youngest of the bucket that a tuple enters, and of the bucket that is looked up."""
        tables = [HeadTable(self._sizes.ring.number, self._sizes.depth) for _ in range(self._groups.banks)]
        for bank, table in enumerate(tables):
            m.submodules[f"table{bank}"] = table
            m.d.comb += [
                table.enter.eq(self.enter & (self.bank == bank)),
                table.bucket.eq(self.bucket),
                table.place.eq(number),
                table.wanted.eq(self.looked_up[bank]),
            ]
        return [table.before for table in tables], [table.youngest for table in tables]

    def _link(self, m, walker, number, live, befores):
        """Store with each tuple how far back the youngest of its bucket was, if that is in the window."""
        wait = HeadTable.LATENCY
        own, lived = delayed(m, number, wait, name="own"), delayed(m, live, wait, name="lived")
        before = Signal.like(befores[0], name="before")
        m.d.comb += before.eq(befores[0])
        if len(befores) == 2:
            with m.If(delayed(m, self.bank, wait, name="bank")):
                m.d.comb += before.eq(befores[1])
        gap, _, some = self._back(m, "link", own, before, lived)
        m.d.comb += [
            walker.enter.eq(delayed(m, self.enter, self.LATENCY, resets=True, name="enter")),
            walker.place.eq(delayed(m, own.place, 2, name="place")),
            walker.link.gap.eq(gap),
            walker.link.some.eq(some),
        ]

    def _walks(self, m, number, live, youngests):
        """Where the walks of a probe begin, and which of them there are."""
        # A cycle later both counts know of the tuple that came with the probe.
        wait = HeadTable.LATENCY - 1
        upto, lived = delayed(m, number, wait, name="upto"), delayed(m, live, wait, name="living")
        wanted = delayed(m, self.wanted, self.LATENCY, name="wanted")
        some, walks = [], []
        for bank, youngest in enumerate(youngests):
            walk = Signal(walk_layout(self._sizes.ring), name=f"walk{bank}")
            _, left, there = self._back(m, f"walk{bank}", upto, youngest, lived)
            m.d.comb += [walk.place.eq(delayed(m, youngest.place, 2, name=f"youngest{bank}")), walk.left.eq(left)]
            some.append(there & wanted[bank])
            walks.append(walk)
        return Cat(some), walks

    def _back(self, m, name, number, older, live):
        """How many tuples came between an older number and this one, and how many of the window before the older one.

        Both two cycles later, when the last bit says whether the older one is in the window at all.
        """
        ring = self._sizes.ring
        gap = Signal(ring.number.size, name=f"gap_{name}", reset_less=True)
        jumps, real, some = (Signal(name=f"{what}_{name}") for what in ("jumps", "real", "some"))
        _, wraps = ring.back(number.place, older.place)
        m.d.sync += [
            gap.eq(number.as_value() - older.as_value() - 1),
            jumps.eq(wraps),
            real.eq(ring.is_place(older.place)),
        ]

        # Where a hole lies between the two, it counts as if so many more were in the window.
        near, far = (Signal(range(1 << ring.bits), name=f"{what}_{name}", reset_less=True) for what in ("near", "far"))
        beyond = Signal(len(gap) + 1, name=f"beyond_{name}")
        left, true_gap = (Signal(ring.bits, name=f"{what}_{name}", reset_less=True) for what in ("left", "true_gap"))
        m.d.comb += beyond.eq(Mux(jumps, far, near) - gap - 1)
        m.d.sync += [
            near.eq(live),
            far.eq(live + ring.hole),
            left.eq(beyond),
            true_gap.eq(ring.jumped(gap[: ring.bits], jumps)),
            some.eq(0),
        ]
        with m.If(real & ~beyond[-1]):
            m.d.sync += some.eq(1)
        return true_gap, left, some
