"""A unit of the wide hash join: both windows of the tuples whose home it is, and a ring for those that must go on."""

from dataclasses import dataclass

from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.hash.expiry_queue import ExpiryQueue
from streamjoin.hdl.hash.hash_window import WindowSizes
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.hash.placed_layout import PlacedLayout
from streamjoin.hdl.hash.window_pair import WindowPair
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.pipeline import delayed


@dataclass(frozen=True)
class UnitSizes:
    """Sizes of the units of a wide hash join.

    Attributes
    ----------
    units
        How many there are.
    windows
        Of the two windows in each of them.
    disorder
        By how many tuples of its stream another one can be overtaken, at most.
    ring
        Pairs of tuples that may wait on their way to the next unit.
    """

    units: int
    windows: dict[str, WindowSizes]
    disorder: int
    ring: int = 16


def flight_layout(layout: PlacedLayout, units: int) -> data.StructLayout:
    """A tuple on its way to its home, and the epoch in which it came."""
    return data.StructLayout({"tuple": layout.tuple, "epoch": 1, "home": ceil_log2(units)})


def visitor_layout(layout: PlacedLayout, units: int) -> data.StructLayout:
    """A tuple that comes to a unit, if any: how many units have seen it, and whether one of them has stored it."""
    return data.StructLayout({"tuple": layout.tuple, "epoch": 1, "hops": ceil_log2(units), "stored": 1, "some": 1})


def visitors_layout(layout: PlacedLayout, units: int) -> data.StructLayout:
    """A tuple of R and one of S that come to a unit together, R before S."""
    return data.StructLayout(dict.fromkeys("rs", visitor_layout(layout, units)))


#: A tuple that goes no further, if any, and the epoch in which it came.
ARRIVAL = data.StructLayout({"some": 1, "epoch": 1})


class HashUnit(Part):
    """Stores the tuples whose home it is, and lets them meet; hands on what it has no room for.

    A tuple looks up the other stream's window here and, in the same moment, is stored in its own one. It goes on to the
    next unit if it could not be stored, or if it may have a partner there: a tuple of the other stream that came by
    here, was not stored, and can still be in its window.

    Why each pair meets exactly once, in whatever order tuples come. Both tuples of a pair have the same home, or R has
    two homes and one of them is that of S: then it is stored for both, as if it were two tuples, and only the one with
    the home of S makes a pair. Whoever is second there is second at each unit that both visit, as tuples go from unit
    to unit in the order in which they came. So the second one finds the first one where that was stored, at the first
    of these units that it comes to, and it does come there: wherever the first went on without being stored, the second
    goes on, too. And the first one has looked up every unit before the second was stored there. Who came first by the
    arrival order, and whether the earlier tuple was still in its window, the numbers of both tell
    (:class:`PlacedLayout`).

    Who leaves. A tuple is dead when ``disorder`` more tuples have come than those of its window: so far behind is
    nobody who may still look it up. The numbers of stored tuples wait in a queue, and leave it in the order in which
    they were stored; with its number the tuple leaves the window. As long as the queue has room, there is room to
    store.

    Why everybody is stored somewhere. Say a tuple finds no room at any unit. What was in its way is not dead, or stood
    behind somebody who was not; so its numbers are of the last window and three times ``disorder``. All units together
    have room for more than that (:class:`~streamjoin.hdl.hash.parameters.HashParameters`).

    Why the ring does not get stuck. Tuples from home enter only if two places are left in the queue to the next unit,
    tuples from the ring if one is: so there is a hole somewhere in the ring, which goes round.

    Parameters
    ----------
    layout
        Layouts and join condition.
    groups
        Which keys share a bucket.
    sizes
        How large everything is.

    Members
    -------
    i_r, i_s
        Tuples whose home this is.
    i, o
        Tuples from the unit before, and to the next one.
    newest_r, newest_s
        The number of a tuple that has come not long ago.
    o_results
        Results of the tuples of S, and of those of R.
    done_r, done_s
        A tuple goes no further, and the epoch in which it came.
    busy
        There is something inside.
    """

    def __init__(self, layout: PlacedLayout, groups: KeyGroups, sizes: UnitSizes):
        self._layout = layout
        self._groups = groups
        self._sizes = sizes
        flights = stream.Signature(flight_layout(layout, sizes.units))
        visitors = stream.Signature(visitors_layout(layout, sizes.units))
        super().__init__(
            {
                "i_r": In(flights),
                "i_s": In(flights),
                "i": In(visitors),
                "o": Out(visitors),
                "newest_r": In(layout.number_bits),
                "newest_s": In(layout.number_bits),
                "o_results": Out(stream.Signature(layout.result)).array(2),
                "done_r": Out(ARRIVAL),
                "done_s": Out(ARRIVAL),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        sizes = self._sizes
        # A cycle for the warning, one for whether to let in, one for those who are let in, and one to spare.
        m.submodules.windows = windows = WindowPair(self._layout, self._groups, sizes.windows, pending=4)
        for n, port in enumerate(self.o_results):
            connect(m, windows.o[n], flipped(port))
        m.submodules.ring = ring = FIFO(self.o.p.shape(), sizes.ring, trusting=True)
        connect(m, ring.o, flipped(self.o))

        here, comes, retires = self._let_in(m, windows.room, ring)
        passed = {side: self._store(m, side, here[side], windows) for side in "rs"}
        goes_on = []
        for side, other in ("rs", "sr"):
            visitor = self._decide(m, side, other, here[side], passed)
            m.d.comb += ring.i.p[side].eq(visitor)
            goes_on.append(visitor.some)
        decided = delayed(m, comes, self._DECISION, resets=True, name="decided")
        m.d.comb += [
            ring.i.valid.eq(goes_on[0] | goes_on[1]),
            retires.eq(decided & ~ring.i.valid),
        ]
        under_way = Signal()
        m.d.sync += [under_way.eq(comes), self.busy.eq(windows.busy | ring.busy | under_way)]
        return m

    def _let_in(self, m, room, ring):
        """Who is here, whether somebody is, and a bit to be raised when none of those who came goes on."""
        here, comes, retires = Signal(visitors_layout(self._layout, self._sizes.units), name="here"), Signal(), Signal()
        is_open, taken = Signal(), Signal(range(self._sizes.ring + 1))
        from_ring, from_home, moves_on = Signal(), Signal(), Signal()
        from_home_ready = is_open & ~self.i.valid & (taken < self._sizes.ring - 1)
        m.d.comb += [
            self.i.ready.eq(is_open & (taken != self._sizes.ring)),
            from_ring.eq(self.i.valid & self.i.ready),
            self.i_r.ready.eq(from_home_ready),
            self.i_s.ready.eq(from_home_ready),
            from_home.eq(from_home_ready & (self.i_r.valid | self.i_s.valid)),
            moves_on.eq(ring.o.valid & ring.o.ready),
        ]
        m.d.sync += [
            is_open.eq(room),
            taken.eq(taken + (from_ring | from_home) - retires - moves_on),
            comes.eq(from_ring | from_home),
        ]
        for side in "rs":
            home, visitor = getattr(self, f"i_{side}"), here[side]
            m.d.sync += [
                visitor.eq(self.i.p[side]),
                visitor.some.eq(from_ring & self.i.p[side].some),
            ]
            with m.If(~self.i.valid):
                m.d.sync += [
                    visitor.tuple.eq(home.p.tuple),
                    visitor.epoch.eq(home.p.epoch),
                    visitor.hops.eq(0),
                    visitor.stored.eq(0),
                    visitor.some.eq(from_home & home.valid),
                ]
        return here, comes, retires

    def _store(self, m, side, visitor, windows):
        """Look up the other window and be stored in one's own if there is room; who came last and was not stored."""
        sizes, bits = self._sizes, self._layout.number_bits
        window, newest = self._layout.windows["rs".index(side)], getattr(self, f"newest_{side}")
        expiry = ExpiryQueue(bits, sizes.windows[side].ring.window)
        m.submodules[f"expiry_{side}"] = expiry
        horizon = Signal(bits, name=f"horizon_{side}", init=(1 << bits) - window - sizes.disorder)
        stores = Signal(name=f"stores_{side}")
        m.d.sync += horizon.eq(newest - window - sizes.disorder)
        m.d.comb += [
            stores.eq(visitor.some & ~visitor.stored & ~expiry.full),
            expiry.enters.eq(stores),
            expiry.number.eq(visitor.tuple.number),
            expiry.horizon.eq(horizon),
            getattr(windows, f"tuple_{side}").eq(visitor.tuple),
            getattr(windows, f"probes_{side}").eq(visitor.some),
            getattr(windows, f"stores_{side}").eq(stores),
            getattr(windows, f"leaves_{side}").eq(expiry.leaves),
        ]
        passed = Signal(data.StructLayout({"number": bits, "some": 1}), name=f"passed_{side}")
        lately = Signal(3, name=f"lately_{side}")
        passes = visitor.some & ~visitor.stored & ~stores
        m.d.sync += lately.eq(lately << 1 | passes)
        with m.If(passes):
            m.d.sync += [passed.number.eq(visitor.tuple.number), passed.some.eq(1)]
        return passed, passes, lately, stores

    def _decide(self, m, side, other, visitor, passed):
        """The visitor as it goes on, three cycles later, if it does."""
        sizes, bits = self._sizes, self._layout.number_bits
        window = self._layout.windows["rs".index(other)]
        theirs, passes, lately, _ = passed[other]
        *_, stores = passed[side]
        seen = visitor_layout(self._layout, sizes.units)
        after = Signal(seen, name=f"after_{side}")
        m.d.sync += [after.eq(visitor), after.stored.eq(visitor.stored | stores)]
        # How far whoever came by here last is ahead of the visitor's window.
        ahead = Signal(bits, name=f"ahead_{side}", reset_less=True)
        m.d.sync += ahead.eq(theirs.number - after.tuple.other)
        some = delayed(m, theirs.some, 1, resets=True, name=f"some_{side}")
        near, far = ((ahead + window + way * sizes.disorder)[bits - 1] for way in (1, 2))
        may_meet = delayed(m, some & ~near, 1, resets=True, name=f"may_meet_{side}")
        # Nobody who comes later can be so far behind: what came by is forgotten. Where there is no visitor, what stands
        # in its place says nothing.
        real = delayed(m, after.some, 1, resets=True, name=f"real_{side}")
        forgets = delayed(m, real & some & far, 1, resets=True, name=f"forgets_{side}")
        with m.If(forgets & ~passes & ~lately.any()):
            m.d.sync += theirs.some.eq(0)

        last = delayed(m, after, self._DECISION - 1, resets=True, name=f"last_{side}")
        on, done = Signal(seen, name=f"on_{side}"), getattr(self, f"done_{side}")
        m.d.comb += [
            on.eq(last),
            on.hops.eq(last.hops + 1),
            on.some.eq(last.some & (last.hops != sizes.units - 1) & (~last.stored | may_meet)),
        ]
        m.d.sync += [done.some.eq(last.some & ~on.some), done.epoch.eq(last.epoch)]
        return on

    #: Cycles from who is here to who goes on.
    _DECISION = 3
