"""The chain walker: each probe visits what its chains lead to, in order, four of them at a time."""

import random

import pytest

from streamjoin.hdl.hash.chain_walker import SLOTS, ChainWalker
from streamjoin.hdl.hash.window_ring import WindowRing
from tests.hdl.stream_bench import run

RING = WindowRing(20)
PLACES = RING.places


class Chains:
    """Links in plain Python, and what a walk along them visits."""

    def __init__(self, gaps: dict[int, int]):
        self.gaps = gaps

    def visited(self, walk: dict[str, int]) -> list[int]:
        place, left, places = walk["place"], walk["left"], []
        while True:
            places.append(place)
            gap = self.gaps.get(place)
            if gap is None or left <= gap:
                return places
            place, left = (place - gap - 1) % PLACES, left - gap - 1

    def expected(self, probe) -> list[tuple[int, int]]:
        """Places and banks of a probe with one walk or two."""
        visits = [(place, probe["bank"]) for place in self.visited(probe["walk"])]
        if probe.get("more"):
            visits += [(place, 1) for place in self.visited(probe["further"])]
        return visits

    async def store(self, ctx, walker):
        """One link a cycle; where there is none, anything but the bit that says so."""
        for place in range(PLACES):
            ctx.set(walker.enter, 1)
            ctx.set(walker.place, place)
            gap = self.gaps.get(place)
            ctx.set(walker.link, {"gap": place % 7 if gap is None else gap, "some": gap is not None})
            await ctx.tick()
        ctx.set(walker.enter, 0)


class Watch:
    """Follows the walks of a walker, slot by slot; holds it to what its links say."""

    def __init__(self, chains: Chains):
        self._chains = chains
        self._due: dict[int, list[tuple[int, int]]] = {}
        self._epochs: dict[int, int] = {}
        self.visits: list[int] = []
        self.ended = 0
        self.cycle = -1

    async def step(self, ctx, walker, probe, go):
        """A cycle, in which a probe may be offered; whether it was taken."""
        ctx.set(walker.i.valid, probe is not None)
        if probe is not None:
            ctx.set(walker.i.p, probe)
        ctx.set(walker.go, go)
        names = ("slot", "visits", "visit", "ends", "ended", "busy")
        self.cycle += 1
        _, _, ready, slot, visits, visit, ends, ended, busy = await ctx.tick().sample(
            walker.i.ready, *(getattr(walker, name) for name in names)
        )
        assert busy == bool(self._due)
        if visits:
            assert go
            self.visits.append(self.cycle)
            assert (visit.place, visit.bank) == self._due[visit.slot].pop(0)
        if ends:
            # Its slot is the one that is free now.
            assert self._due.pop(slot) == [], "there was more to visit"
            assert ended == self._epochs[slot]
            self.ended += 1
        assert ready == (slot not in self._due)
        if probe is not None and ready:
            self._due[slot], self._epochs[slot] = self._chains.expected(probe), probe["epoch"]
            return True
        return False

    @property
    def under_way(self) -> int:
        return len(self._due)


def walk(place: int, left: int) -> dict[str, int]:
    return {"place": place, "left": left}


def single(place: int, left: int = PLACES - 1, epoch: int = 0) -> dict:
    return {"walk": walk(place, left), "bank": 0, "epoch": epoch}


def drawn(rng, banks):
    def begin():
        return walk(rng.randrange(PLACES), rng.choice((0, 1, rng.randrange(PLACES), PLACES - 1)))

    second = {"further": begin(), "more": rng.getrandbits(1)} if banks == 2 else {}
    return {"walk": begin(), "bank": rng.randrange(banks), **second, "epoch": rng.getrandbits(1)}


@pytest.mark.parametrize("pausing", [0.0, 0.4])
@pytest.mark.parametrize("banks", [1, 2])
def test_walks_follow_their_links_as_far_as_they_may(banks, pausing):
    rng = random.Random(banks)
    gaps = {place: rng.choice((0, 0, 1, 5, rng.randrange(PLACES))) for place in range(PLACES) if rng.random() < 0.8}
    walker, chains = ChainWalker(RING, banks), Chains(gaps)
    watch, lengths = Watch(chains), []

    async def bench(ctx):
        await chains.store(ctx, walker)
        probe = None
        for cycle in range(1500):
            if probe is None and rng.random() < 0.7 and cycle < 1000:
                probe = drawn(rng, banks)
            if await watch.step(ctx, walker, probe, rng.random() >= pausing):
                lengths.append(len(chains.expected(probe)))
                probe = None
        assert probe is None

    run(walker, bench)
    assert watch.ended == len(lengths) > 50
    assert watch.under_way == 0
    assert {1, 2, 3} <= set(lengths)
    assert len(watch.visits) == sum(lengths)


@pytest.mark.parametrize("walks", range(1, SLOTS + 1))
def test_four_walks_visit_a_tuple_in_each_cycle(walks):
    """And one alone does so in each round."""
    walker, chains = ChainWalker(RING, 1), Chains(dict.fromkeys(range(PLACES), 0))
    watch, count = Watch(chains), 15

    async def bench(ctx):
        await chains.store(ctx, walker)
        for n in range(walks):
            assert await watch.step(ctx, walker, single(n, count - 1), go=True)
        while watch.under_way:
            assert watch.cycle < 100
            await watch.step(ctx, walker, None, go=True)

    run(walker, bench)
    # The first visit is a cycle after the probe.
    assert watch.visits == [1 + SLOTS * step + n for step in range(count) for n in range(walks)]


def test_slots_are_taken_again_in_the_cycle_in_which_they_are_free():
    """Probes that have one visit each: a probe, a visit and an end in each cycle."""
    walker, chains = ChainWalker(RING, 1), Chains({})
    watch = Watch(chains)

    async def bench(ctx):
        await chains.store(ctx, walker)
        for n in range(60):
            assert await watch.step(ctx, walker, single(n, epoch=n & 1), go=True)
        for _ in range(SLOTS):
            await watch.step(ctx, walker, None, go=True)

    run(walker, bench)
    assert watch.visits == list(range(1, 61))
    assert watch.ended == 60


def test_nothing_is_lost_while_nothing_may_be_visited():
    """Four walks, each with a second one, stand still for long in any state, and go on where they were."""
    walker, chains = ChainWalker(RING, 2), Chains({place: 1 for place in range(PLACES) if place % 5})
    watch = Watch(chains)

    async def bench(ctx):
        await chains.store(ctx, walker)
        for n in range(SLOTS):
            probe = {"walk": walk(9 + n, 100), "bank": 0, "further": walk(50 + n, 3), "more": 1, "epoch": n & 1}
            assert await watch.step(ctx, walker, probe, go=False)
        for cycle in range(1200):
            await watch.step(ctx, walker, None, go=cycle % 23 == 0)

    run(walker, bench)
    assert watch.under_way == 0
    assert watch.ended == SLOTS


def test_a_link_that_is_stored_in_time_is_followed():
    """Two cycles before its place is visited will do; and links come in while walks go round."""
    walker, chains = ChainWalker(RING, 1), Chains({})
    watch = Watch(chains)

    async def bench(ctx):
        await chains.store(ctx, walker)
        for place in range(1, 40):
            chains.gaps[place] = 0
            ctx.set(walker.enter, 1)
            ctx.set(walker.place, place)
            ctx.set(walker.link, {"gap": 0, "some": 1})
            await watch.step(ctx, walker, None, go=True)
            ctx.set(walker.enter, 0)
            # Back from the new tuple to the four before it.
            while not await watch.step(ctx, walker, single(place, 4), go=True):
                pass
        while watch.under_way:
            await watch.step(ctx, walker, None, go=True)

    run(walker, bench)
    assert len(watch.visits) == sum(min(place, 4) + 1 for place in range(1, 40))
