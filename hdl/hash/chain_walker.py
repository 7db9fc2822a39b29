"""The chain walker: goes from each bucket's youngest tuple back to the oldest that counts, several walks at a time."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.hash.window_ring import WindowRing
from streamjoin.hdl.lib.split_memory import SplitMemory


def walk_layout(ring: WindowRing) -> data.StructLayout:
    """A walk: the place that is visited next, and how many places of the window lie beyond it."""
    return data.StructLayout({"place": ring.bits, "left": ring.bits})


def link_layout(ring: WindowRing) -> data.StructLayout:
    """A link: whether a bucket had an older tuple, and how many came between the two."""
    return data.StructLayout({"gap": ring.bits, "some": 1})


class ChainWalker(Part):
    """A loop of four cycles round the memory of links, in each of which a walk may be.

    A walk visits a tuple in each round. Its place goes out as a candidate while its link is read; two cycles later
    the link says how much further back the next one is, and whether that is still in the window: then the walk goes
    round again. Where it ends, its probe may have a second walk, which follows in the same round; otherwise the next
    probe enters. With ``go`` down walks go round and visit nothing.

    Why walks end. A link leads to an older tuple, so ``left`` falls with each round and never gets below 0.

    Cost. A candidate a cycle, while there are four walks; one in four cycles for a walk that is alone.

    Parameters
    ----------
    ring
        Where the tuples are.
    probe
        What is carried along.
    banks
        1 or 2: how many walks a probe has, at most.

    Members
    -------
    i
        Probes, each with the walks that it has, from the first on.
    enter, place, link
        A link to be stored.
    go
        Candidates can be taken.
    visits, candidate
        A place to be compared with a probe; with its bank, if there are two.
    ends, ended
        A probe has made all its visits, and which one.
    busy
        There is a walk.
    """

    #: Walks under way at a time.
    ROUND = 4

    def __init__(self, ring: WindowRing, probe: data.StructLayout, banks: int):
        self._ring = ring
        self._probe = probe
        self._banks = banks
        self._walk = walk_layout(ring)
        super().__init__(
            {
                "i": In(stream.Signature(self.request_layout(ring, probe, banks))),
                "enter": In(1),
                "place": In(ring.bits),
                "link": In(link_layout(ring)),
                "go": In(1),
                "visits": Out(1),
                "candidate": Out(data.StructLayout({"probe": probe, "place": ring.bits, "bank": 1})),
                "ends": Out(1),
                "ended": Out(probe),
                "busy": Out(1),
            }
        )

    @staticmethod
    def request_layout(ring: WindowRing, probe: data.StructLayout, banks: int) -> data.StructLayout:
        """A probe, its walk, the bank of that, and whether there is another one, in the odd bank."""
        second = {"further": walk_layout(ring), "more": 1} if banks == 2 else {}
        return data.StructLayout({"probe": probe, "walk": walk_layout(ring), "bank": 1, **second})

    def elaborate(self, platform):
        m = Module()
        ring = self._ring
        m.submodules.links = links = SplitMemory(link_layout(ring), ring.places)
        m.d.comb += [links.enter.eq(self.enter), links.into.eq(self.place), links.word.eq(self.link)]

        # Where a walk is: its link is asked for, comes out of the memory, tells where to go, has told.
        asks, reads, steps, decides = [
            Signal(self.i.p.shape(), name=name, reset_less=True) for name in ("asks", "reads", "steps", "decides")
        ]
        there = Signal(self.ROUND)
        visited = Signal(3)
        link = Signal(link_layout(ring), reset_less=True)
        goes_on, jumps = Signal(), Signal()
        m.d.comb += [
            links.asked.eq(asks.walk.place),
            self.visits.eq(there[0] & self.go),
            self.candidate.probe.eq(asks.probe),
            self.candidate.place.eq(asks.walk.place),
            self.candidate.bank.eq(asks.bank),
            self.busy.eq(there.any()),
        ]
        m.d.sync += [
            reads.eq(asks),
            steps.eq(reads),
            decides.eq(steps),
            link.eq(links.found),
            visited.eq(visited << 1 | self.visits),
        ]
        # The link of a visit that is made moves the walk; one that is not made is tried again.
        behind = Signal(ring.bits + 1)
        m.d.comb += behind.eq(steps.walk.left - link.gap - 1)
        m.d.sync += [goes_on.eq(~visited[1]), jumps.eq(0)]
        with m.If(visited[1]):
            place, wraps = ring.back(steps.walk.place, link.gap)
            m.d.sync += [decides.walk.place.eq(place), decides.walk.left.eq(behind), jumps.eq(wraps)]
        with m.If(visited[1] & link.some & ~behind[-1]):
            m.d.sync += goes_on.eq(1)

        more = decides.more if self._banks == 2 else 0
        stays = Signal()
        m.d.comb += [
            stays.eq(there[3] & (goes_on | more)),
            self.i.ready.eq(~stays),
            self.ends.eq(there[3] & ~stays),
            self.ended.eq(decides.probe),
        ]
        on = Signal.like(decides)
        m.d.comb += [on.eq(decides), on.walk.place.eq(ring.jumped(decides.walk.place, jumps))]
        m.d.sync += [there.eq(there << 1 | stays | self.i.valid), asks.eq(Mux(stays, on, self.i.p))]
        if self._banks == 2:
            with m.If(there[3] & ~goes_on & more):
                m.d.sync += [asks.walk.eq(decides.further), asks.bank.eq(1), asks.more.eq(0)]
        return m
