"""A hash window finds what a list of the last tuples does, whatever it held before, and however its output waits."""

import random
from collections import Counter, deque

import pytest
from amaranth.hdl import ResetInserter, Signal

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.hash.hash_window import HashWindow, WindowSizes
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.hash.window_ring import WindowRing
from streamjoin.reference.key_ranges import closed
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import run

KEY, PAYLOAD = 5, 12
#: Cycles in which tuples still come after ``room`` has gone down.
LATE = 3


class Reference:
    """The window as a list, and which groups of keys are where."""

    def __init__(self, predicate, side, window, depth):
        parsed = parse_predicate(predicate)
        (self._lo, self._hi), *more = closed(parsed.key_ranges)
        assert not more
        self.layout = TupleLayout(parsed, key_width=KEY, payload_width=PAYLOAD)
        self.groups = KeyGroups(self._lo, self._hi, KEY, seed=1)
        self._side, self._window, self._depth = side, window, depth
        self.stored: list[dict] = []
        self._left = 0
        self.due: Counter = Counter()

    def _matches(self, stored, probe) -> bool:
        distance = stored["key"] - probe["key"]
        return self._lo <= (distance if self._side == "r" else -distance) <= self._hi

    def enter(self, one) -> dict:
        """What the window is told of a tuple that comes, and pushes out the oldest one if the window is full."""
        self.stored.append(one)
        leaves = self.live > self._window
        self._left += leaves
        group = one["key"] >> self.groups.shift
        bank = group % self.groups.banks
        bucket = group // self.groups.banks % self._depth
        return {"enter": 1, "leave": leaves, "tuple": one, "bank": bank, "bucket": bucket}

    @property
    def live(self) -> int:
        """How many are in the window."""
        return len(self.stored) - self._left

    def leave(self) -> dict:
        """The oldest one goes before its time."""
        self._left += 1
        return {"leave": 1}

    def probe(self, one) -> dict:
        """What it is told of one that looks for partners."""
        for stored in self.stored[self._left :]:
            if self._matches(stored, one):
                self.due[stored["payload"], one["payload"]] += 1
        lower, upper = (self._lo, self._hi) if self._side == "r" else (-self._hi, -self._lo)
        wanted, looked_up = 0, [0] * self.groups.banks
        for end in (one["key"] + lower, one["key"] + upper):
            group = end >> self.groups.shift
            bank = group % self.groups.banks
            wanted |= 1 << bank
            looked_up[bank] = group // self.groups.banks % self._depth
        return {"probes": 1, "probe": one, "wanted": wanted, "looked_up": looked_up}


class Life:
    """One run of a window, from a reset on."""

    def __init__(
        self, reference: Reference, rng: random.Random, keys, stall=0.0, entering=0.7, probing=0.7, leaving=0.0
    ):
        self._reference, self._rng, self._keys, self._stall = reference, rng, keys, stall
        self._entering, self._probing, self._leaving = entering, probing, leaving
        self._rooms = deque([0] * LATE)
        self._side = reference._side
        self.found: Counter = Counter()
        self.came = 0
        self.halts = 0

    async def cycle(self, ctx, window, going=True):
        rng, room = self._rng, self._rooms.popleft()
        steps = {"enter": 0, "leave": 0, "probes": 0}
        self.halts += going and not room
        if going and room and rng.random() < self._entering:
            steps |= self._reference.enter(self._one())
        elif going and self._reference.live and rng.random() < self._leaving:
            steps |= self._reference.leave()
        if going and room and rng.random() < self._probing:
            steps |= self._reference.probe(self._one())
        for name, value in steps.items():
            ctx.set(getattr(window, name), value)
        ctx.set(window.o.ready, rng.random() >= self._stall)
        _, _, room, valid, ready, result = await ctx.tick().sample(
            window.room, window.o.valid, window.o.ready, window.o.p
        )
        self._rooms.append(room)
        if valid and ready:
            pair = (result.payload_r, result.payload_s)
            self.found[pair if self._side == "r" else pair[::-1]] += 1

    def _one(self) -> dict:
        self.came += 1
        return {"key": self._rng.choice(self._keys), "payload": self.came % (1 << PAYLOAD)}

    async def drain(self, ctx, window, within=20_000):
        for _ in range(within):
            await self.cycle(ctx, window, going=False)
            if not ctx.get(window.busy):
                return
        raise AssertionError(f"it is busy after {within} cycles")


def made(reference, window, depth, queue=4, results=4):
    sizes = WindowSizes(WindowRing(window), depth, queue, results)
    reserve = HashWindow.LATENCY + 1 + LATE
    return HashWindow(reference.layout, reference._side, reference.groups, sizes, reserve=reserve)


KEYS = {"few": range(3), "all": range(1 << KEY), "ends": (0, 1, (1 << KEY) - 1)}


@pytest.mark.parametrize(
    ("predicate", "side", "size", "depth", "queues", "stall", "keys"),
    [
        ("equi", "r", 1, 1, 1, 0.0, "few"),
        ("equi", "s", 20, 8, 4, 0.5, "all"),
        ("equi", "r", 7, 32, 2, 0.9, "few"),
        ("equi", "r", 300, 64, 8, 0.0, "all"),
        ("bands:3..3", "s", 9, 16, 1, 0.3, "all"),
        ("bands:-3..1", "r", 20, 8, 4, 0.3, "all"),
        ("bands:-3..1", "s", 6, 2, 2, 0.0, "all"),
        ("band:1", "r", 12, 1, 1, 0.5, "ends"),
        ("band:40", "s", 3, 4, 4, 0.5, "all"),
    ],
)
def test_a_probe_meets_the_last_tuples_that_match_it(predicate, side, size, depth, queues, stall, keys):
    """For more than two laps of the ring; then a reset in mid-run, and once more with what is in the memories."""
    rng = random.Random(size)
    window = made(Reference(predicate, side, size, depth), size, depth, queues, queues)
    clear = Signal()

    async def bench(ctx):
        for cycles in (700, 1700):
            reference = Reference(predicate, side, size, depth)
            life = Life(reference, rng, KEYS[keys], stall, entering=0.9)
            for _ in range(cycles):
                await life.cycle(ctx, window)
            if cycles < 1000:
                assert life.found <= reference.due
                ctx.set(window.enter, 0)
                ctx.set(window.probes, 0)
                ctx.set(clear, 1)
                await ctx.tick()
                ctx.set(clear, 0)
        await life.drain(ctx, window)
        assert life.found == reference.due
        assert life.found.total() > 40
        assert life.came > 100

    run(ResetInserter(clear)(window), bench)


@pytest.mark.parametrize("side", "rs")
def test_who_has_left_is_not_found(side):
    """Tuples leave one by one while others come, until none is left, and some do not."""
    reference = Reference("bands:-3..1", side, 12, 4)
    window = made(reference, 12, 4)
    lives = Counter()

    async def bench(ctx):
        life = Life(reference, random.Random(6), KEYS["few"], entering=0.3, leaving=0.5, probing=0.4)
        for _ in range(1200):
            await life.cycle(ctx, window)
            lives[reference.live] += 1
        await life.drain(ctx, window)
        assert life.found == reference.due
        assert life.found.total() > 100

    run(window, bench)
    assert min(lives[n] for n in range(6)) > 10


@pytest.mark.parametrize("predicate", ["equi", "band:2"])
def test_buckets_that_nobody_has_touched_for_long(predicate):
    """One key comes once in some laps: what its bucket says by then may be anybody's place."""
    rng, size, depth = random.Random(4), 30, 8
    reference = Reference(predicate, "r", size, depth)
    window = made(reference, size, depth)
    seldom = [9] + [0] * 400

    async def bench(ctx):
        life = Life(reference, rng, [*seldom, *[0, 17, 26] * 30], entering=1.0, probing=0.3)
        for _ in range(3000):
            await life.cycle(ctx, window)
        life._keys = [9]
        for _ in range(100):
            await life.cycle(ctx, window)
        await life.drain(ctx, window)
        assert life.found == reference.due

    run(window, bench)


def test_a_long_walk_holds_tuples_back_before_they_overwrite_what_it_visits():
    """One probe of a full bucket, whose results nobody takes, and a ring's worth of tuples of the other stream."""
    size = 300
    reference = Reference("equi", "r", size, 8)
    window = made(reference, size, 8)
    ring = WindowRing(size)

    async def bench(ctx):
        life = Life(reference, random.Random(1), [4], entering=1.0, probing=0.0)
        for _ in range(size + 20):
            await life.cycle(ctx, window)
        before = life.halts
        life._probing, life._stall = 1.0, 1.0
        await life.cycle(ctx, window)
        life._probing, life._keys = 0.0, [5]
        entered = len(reference.stored)
        for _ in range(2 * ring.places):
            await life.cycle(ctx, window)
        assert life.halts - before > ring.places, "the guard holds back what comes"
        assert len(reference.stored) - entered > ring.epoch, "but not at once"
        life._stall = 0.5
        await life.drain(ctx, window)
        assert life.found == reference.due
        assert life.found.total() == size
        before = life.halts
        for _ in range(200):
            await life.cycle(ctx, window)
        assert life.halts - before < 20, "it lets go"

    run(window, bench)


@pytest.mark.parametrize(("predicate", "probe"), [("equi", 1), ("bands:-3..0", 7)])
def test_empty_buckets_and_banks_that_are_not_asked_cost_nothing(predicate, probe):
    """All that is there is in the first bucket of the first bank, of which no probe wants to know."""
    reference = Reference(predicate, "r", 100, 2)
    window = made(reference, 100, 2)

    async def bench(ctx):
        life = Life(reference, random.Random(1), [0], entering=1.0, probing=0.0)
        for _ in range(150):
            await life.cycle(ctx, window)
        life._entering, life._probing, life._keys, before = 0.0, 1.0, [probe], life.halts
        for _ in range(300):
            await life.cycle(ctx, window)
        assert life.halts == before
        assert ctx.get(window.busy)
        await life.drain(ctx, window, within=HashWindow.LATENCY + 1)
        assert not life.found

    run(window, bench)
