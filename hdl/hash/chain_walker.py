"""The chain walker: goes from each bucket's youngest tuple back to the oldest that counts, several walks at a time."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.hash.window_ring import WindowRing
from streamjoin.hdl.lib.split_memory import SplitMemory

#: Walks under way at a time, each in a slot of its own: as many as a round has cycles.
SLOTS = 4


def walk_layout(ring: WindowRing) -> data.StructLayout:
    """A walk: the place that is visited next, and how many places of the window lie beyond it."""
    return data.StructLayout({"place": ring.bits, "left": ring.bits})


def link_layout(ring: WindowRing) -> data.StructLayout:
    """A link: whether a bucket had an older tuple, and how many came between the two."""
    return data.StructLayout({"gap": ring.bits, "some": 1})


def visit_layout(ring: WindowRing) -> data.StructLayout:
    """A place that a walk visits, the bank in whose bucket it was found, and the slot of the walk."""
    return data.StructLayout({"place": ring.bits, "bank": 1, "slot": range(SLOTS)})


class ChainWalker(Part):
    """A loop of four cycles round the memory of links, in each of which a walk may be.

    A walk visits a tuple in each round. Its place goes out while its link is read; two cycles later the link says how
    much further back the next one is, and whether that is still in the window: then the walk goes round again. Where it
    ends, its probe may have a second walk, which follows in the same round; otherwise the next probe enters. With
    ``go`` down walks go round and visit nothing. Nothing but the walk itself goes round: what it is compared with waits
    where it is compared, under the number of the walk's slot.

    Why walks end. A link leads to an older tuple, so ``left`` falls with each round and never gets below 0.

    Cost. A visit a cycle, while there are four walks; one in four cycles for a walk that is alone.

    Parameters
    ----------
    ring
        Where the tuples are.
    banks
        1 or 2: how many walks a probe has, at most.

    Members
    -------
    i
        Probes: the walks that each has, from the first on, and its epoch.
    slot
        Where the probe goes that enters in this cycle.
    enter, place, link
        A link to be stored.
    go
        Visits can be made.
    visits, visit
        A visit.
    ends, ended
        A probe has made all its visits, and the epoch of it.
    busy
        There is a walk.
    """

    def __init__(self, ring: WindowRing, banks: int):
        self._ring = ring
        self._banks = banks
        super().__init__(
            {
                "i": In(stream.Signature(self.request_layout(ring, banks))),
                "slot": Out(range(SLOTS)),
                "enter": In(1),
                "place": In(ring.bits),
                "link": In(link_layout(ring)),
                "go": In(1),
                "visits": Out(1),
                "visit": Out(visit_layout(ring)),
                "ends": Out(1),
                "ended": Out(1),
                "busy": Out(1),
            }
        )

    @staticmethod
    def request_layout(ring: WindowRing, banks: int) -> data.StructLayout:
        """A walk, the bank of it, whether there is another one in the odd bank, and the epoch of the probe."""
        second = {"further": walk_layout(ring), "more": 1} if banks == 2 else {}
        return data.StructLayout({"walk": walk_layout(ring), "bank": 1, **second, "epoch": 1})

    def elaborate(self, platform):
        m = Module()
        ring = self._ring
        m.submodules.links = links = SplitMemory(link_layout(ring), ring.places)
        m.d.comb += [links.enter.eq(self.enter), links.into.eq(self.place), links.word.eq(self.link)]

        # Where a walk is: its link is asked for, comes out of the memory, tells where to go, has told.
        walking = self.request_layout(ring, self._banks)
        asks, reads, steps, decides = (
            Signal(walking, name=name, reset_less=True) for name in ("asks", "reads", "steps", "decides")
        )
        there = Signal(SLOTS)
        visited = Signal(2)
        asking = Signal.like(self.slot)
        m.d.comb += [
            links.asked.eq(asks.walk.place),
            self.visits.eq(there[0] & self.go),
            self.visit.place.eq(asks.walk.place),
            self.visit.bank.eq(asks.bank),
            self.visit.slot.eq(asking),
            self.busy.eq(there.any()),
        ]
        m.d.sync += [
            self.slot.eq(self.slot + 1),
            asking.eq(self.slot),
            reads.eq(asks),
            steps.eq(reads),
            visited.eq(visited << 1 | self.visits),
        ]
        # The link of a visit that is made moves the walk; one that is not made is tried again, a step of 0 away.
        link = Signal(link_layout(ring), reset_less=True)
        m.d.sync += link.eq(links.found)
        with m.If(~visited[0]):
            m.d.sync += link.gap.eq(~0)
        behind = Signal(ring.bits + 1)
        goes_on, jumps = Signal(), Signal()
        place, wraps = ring.back(steps.walk.place, link.gap)
        m.d.comb += behind.eq(steps.walk.left - link.gap - 1)
        m.d.sync += [
            decides.eq(steps),
            decides.walk.place.eq(place),
            decides.walk.left.eq(behind),
            jumps.eq(wraps),
            goes_on.eq(0),
        ]
        with m.If(link.some & ~behind[-1]):
            m.d.sync += goes_on.eq(1)
        with m.If(~visited[1]):
            m.d.sync += [goes_on.eq(1), jumps.eq(0)]

        more = decides.more if self._banks == 2 else 0
        stays = Signal()
        m.d.comb += [
            stays.eq(there[-1] & (goes_on | more)),
            self.i.ready.eq(~stays),
            self.ends.eq(there[-1] & ~stays),
            self.ended.eq(decides.epoch),
        ]
        on = Signal(walking)
        m.d.comb += [on.eq(decides), on.walk.place.eq(ring.jumped(decides.walk.place, jumps))]
        m.d.sync += [there.eq(there << 1 | stays | self.i.valid), asks.eq(Mux(stays, on, self.i.p))]
        if self._banks == 2:
            with m.If(there[-1] & ~goes_on & more):
                m.d.sync += [asks.walk.eq(decides.further), asks.bank.eq(1), asks.more.eq(0)]
        return m
