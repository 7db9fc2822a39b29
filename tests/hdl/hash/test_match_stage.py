"""The match stage: compares what is visited with the probe in its slot, and says in time that its queue is full."""

import random

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.hash.chain_walker import SLOTS
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.hash.match_stage import MatchStage
from streamjoin.hdl.hash.window_ring import WindowRing
from streamjoin.reference.key_ranges import closed
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import plain, run, sink

RING = WindowRing(20)
KEY, TIME = 4, 5
SPANS = (4, 9)


def made(predicate="equi", side="r", queue=4, spans=None):
    parsed = parse_predicate(predicate)
    layout = TupleLayout(parsed, key_width=KEY, payload_width=8, time_width=TIME, spans=spans)
    ranges = closed(parsed.key_ranges)
    groups = KeyGroups(ranges[0][0], ranges[-1][1], KEY, seed=1)
    return MatchStage(layout, side, RING, groups, queue), layout, groups


def drawn(rng, layout):
    return {name: rng.randrange(1 << min(field.width, 3)) for name, field in layout.tuple}


CONDITIONS = {
    "equi": lambda r, s: r["key"] == s["key"],
    "band:1": lambda r, s: abs(r["key"] - s["key"]) <= 1,
    "bands:-4..-2,1..1": lambda r, s: r["key"] - s["key"] in (-4, -3, -2, 1),
    "band2:1,2": lambda r, s: abs(r["key"] - s["key"]) <= 1 and abs(r["key2"] - s["key2"]) <= 2,
}


def meets(predicate, spans, r, s):
    if not CONDITIONS[predicate](r, s):
        return False
    return spans is None or -spans[1] < s["time"] - r["time"] < spans[0]


@pytest.mark.parametrize(("side", "spans"), [("r", None), ("s", SPANS)])
@pytest.mark.parametrize("predicate", CONDITIONS)
def test_a_visit_is_a_result_where_all_conditions_hold(predicate, spans, side):
    """Visits of four walks in turns, each of a probe that took its slot in the cycle before the first of them."""
    stage, layout, groups = made(predicate, side, spans=spans)
    rng = random.Random(2)
    stored, expected, probes, misplaced = {}, [], {}, []

    async def bench(ctx):
        ctx.set(stage.enter, 1)
        for place in range(RING.places):
            stored[place] = drawn(rng, layout)
            ctx.set(stage.place, place)
            ctx.set(stage.tuple, stored[place])
            await ctx.tick()
        ctx.set(stage.enter, 0)
        for cycle in range(800):
            slot, enters = cycle % SLOTS, (cycle - 1) % SLOTS
            ctx.set(stage.slot, slot)
            ctx.set(stage.begins, begins := rng.random() < 0.3)
            ctx.set(stage.probe, probe := drawn(rng, layout))
            place, bank = rng.randrange(RING.places), rng.randrange(groups.banks)
            go = ctx.get(stage.go)
            ctx.set(stage.visits, visits := enters in probes and go and rng.random() < 0.8)
            ctx.set(stage.visit, {"place": place, "bank": bank, "slot": enters})
            if visits:
                pair = (stored[place], probes[enters]) if side == "r" else (probes[enters], stored[place])
                if meets(predicate, spans, *pair):
                    belongs = groups.banks == 1 or stored[place]["key"] >> groups.shift & 1 == bank
                    (expected if belongs else misplaced).append(pair)
            if begins:
                probes[slot] = probe
            await ctx.tick()
        ctx.set(stage.begins, 0)
        ctx.set(stage.visits, 0)

    results = []
    background = sink(stage.o, 10_000, results, within=RING.places + 900)

    async def finish(ctx):
        await bench(ctx)
        await ctx.tick().repeat(stage.LATENCY + 3)
        assert not ctx.get(stage.busy)

    run(stage, finish, background=[background])
    assert len(expected) > 20
    assert (len(misplaced) > 20) == (groups.banks == 2)
    found = [plain(result) for _, result in results]
    assert [(one["payload_r"], one["payload_s"]) for one in found] == [
        (r["payload"], s["payload"]) for r, s in expected
    ]
    keys = [(one.get("key_r", one.get("key")), one.get("key_s", one.get("key"))) for one in found]
    assert keys == [(r["key"], s["key"]) for r, s in expected]


@pytest.mark.parametrize("queue", [1, 2, 8])
def test_visits_end_before_the_queue_is_full(queue):
    """Each of them has a result, and nobody takes it; then all of them come, and visits go on."""
    stage, _, _ = made(queue=queue)
    made_visits, results = [], []
    item = {"key": 3, "payload": 7}

    async def bench(ctx):
        ctx.set(stage.enter, 1)
        ctx.set(stage.tuple, item)
        ctx.set(stage.begins, 1)
        ctx.set(stage.probe, item)
        await ctx.tick().repeat(SLOTS)
        for n in range(200):
            if n == 100:
                assert not ctx.get(stage.go)
                assert queue <= len(made_visits) <= queue + stage.LATENCY + 3
                stopped.append(len(made_visits))
            ctx.set(stage.o.ready, n >= 100)
            # As the walker does: whether it may, it sees in the same cycle.
            ctx.set(stage.visits, go := ctx.get(stage.go))
            made_visits.extend([n] * go)
            _, _, valid, ready = await ctx.tick().sample(stage.o.valid, stage.o.ready)
            results.extend([n] * (valid & ready))
        ctx.set(stage.visits, 0)
        for n in range(200, 200 + queue + 20):
            _, _, valid = await ctx.tick().sample(stage.o.valid)
            results.extend([n] * valid)
        assert not ctx.get(stage.busy)

    stopped = []
    run(stage, bench)
    assert len(results) == len(made_visits) > stopped[0] + 20


def test_a_result_is_in_the_queue_after_its_latency():
    """Which takes two more cycles to show it."""
    stage, _, _ = made()
    came = []

    async def bench(ctx):
        ctx.set(stage.begins, 1)
        ctx.set(stage.enter, 1)
        await ctx.tick().repeat(3)
        ctx.set(stage.begins, 0)
        ctx.set(stage.enter, 0)
        for cycle in range(20):
            ctx.set(stage.visits, cycle == 0)
            _, _, valid, busy = await ctx.tick().sample(stage.o.valid, stage.busy)
            assert busy or cycle == 0 or came
            came.extend([cycle] * valid)

    run(stage, bench)
    assert came[0] == stage.LATENCY + 2
