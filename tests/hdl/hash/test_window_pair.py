"""Both windows of a join: of a pair the later tuple finds the earlier one, and R is before S in a cycle."""

import random
from collections import Counter, deque

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.hash.hash_window import WindowSizes
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.hash.window_pair import WindowPair
from streamjoin.hdl.hash.window_ring import WindowRing
from streamjoin.reference.key_ranges import closed
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import run

#: Cycles in which tuples still come after ``room`` has gone down.
LATE = 3


def made(predicate, windows, depth):
    parsed = parse_predicate(predicate)
    ((lo, hi),) = closed(parsed.key_ranges)
    sizes = {side: WindowSizes(WindowRing(window), depth, 2, 2) for side, window in zip("rs", windows, strict=True)}
    layout = TupleLayout(parsed, key_width=4, payload_width=12)
    return WindowPair(layout, KeyGroups(lo, hi, 4, seed=1), sizes, pending=LATE), (lo, hi)


@pytest.mark.parametrize("stall", [0.0, 0.7])
@pytest.mark.parametrize(
    ("predicate", "windows", "depth"), [("equi", (1, 1), 2), ("equi", (9, 30), 16), ("bands:-3..1", (12, 5), 4)]
)
def test_a_pair_meets_once(predicate, windows, depth, stall):
    """At random, tuples that are stored only, or look for partners only, too."""
    pair, (lo, hi) = made(predicate, windows, depth)
    rng, stored, due, found = random.Random(depth), {"r": [], "s": []}, Counter(), Counter()

    def probe(side, one):
        other = "sr"[side == "s"]
        for partner in stored[other][-windows["rs".index(other)] :]:
            r, s = (one, partner) if side == "r" else (partner, one)
            due[r["payload"], s["payload"]] += lo <= r["key"] - s["key"] <= hi

    def step(side, payload, opens):
        one = {"key": rng.randrange(16), "payload": payload}
        probes, stores = (opens and rng.random() < 0.7 for _ in range(2))
        if probes:
            probe(side, one)
        if stores:
            stored[side].append(one)
        leaves = stores and len(stored[side]) > windows["rs".index(side)]
        return {"tuple": one, "probes": probes, "stores": stores, "leaves": leaves}

    async def cycle(ctx, payload, opens):
        for side in "rs":
            for name, value in step(side, payload, opens).items():
                ctx.set(getattr(pair, f"{name}_{side}"), value)
        values = []
        for port in pair.o:
            ctx.set(port.ready, rng.random() >= stall)
            values += [port.valid, port.ready, port.p]
        _, _, room, *seen = await ctx.tick().sample(pair.room, *values)
        for valid, ready, result in (seen[:3], seen[3:]):
            found[result.payload_r, result.payload_s] += valid and ready
        return room

    async def bench(ctx):
        rooms = deque([0] * LATE)
        for payload in range(1200):
            rooms.append(await cycle(ctx, payload, rooms.popleft()))
        idle = 0
        while idle <= WindowPair.FRONT:
            await cycle(ctx, 0, False)
            idle = 0 if ctx.get(pair.busy) else idle + 1

    run(pair, bench)
    assert +found == +due
    assert due.total() > 20
    assert min(map(len, stored.values())) > 60


@pytest.mark.parametrize("first", ["r", "s", "both"])
def test_of_two_that_come_together_r_is_first(first):
    """Whoever comes later finds the earlier one; of both in a cycle S finds R, and R does not find S."""
    pair, _ = made("equi", (4, 4), 4)
    came = []

    async def bench(ctx):
        await ctx.tick().repeat(3)
        for sides in ("rs",) if first == "both" else (first, "sr"[first == "s"]):
            for side in "rs":
                ctx.set(getattr(pair, f"probes_{side}"), side in sides)
                ctx.set(getattr(pair, f"stores_{side}"), side in sides)
            await ctx.tick()
        for side in "rs":
            ctx.set(getattr(pair, f"probes_{side}"), 0)
            ctx.set(getattr(pair, f"stores_{side}"), 0)
        for port in pair.o:
            ctx.set(port.ready, 1)
        for _ in range(60):
            _, _, of_s, of_r = await ctx.tick().sample(pair.o[0].valid, pair.o[1].valid)
            came.extend(["s"] * of_s + ["r"] * of_r)

    run(pair, bench)
    assert came == ["r" if first == "s" else "s"]
