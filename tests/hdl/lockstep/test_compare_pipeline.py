"""The comparator of one pair a cycle: exactly the pairs that match become results, in order and in time."""

import random
from types import SimpleNamespace

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lockstep.compare_pipeline import ComparePipeline
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import run, sink

QUEUE, MARGIN = 3, 4


def pipeline(predicate: str) -> ComparePipeline:
    layout = TupleLayout(parse_predicate(predicate), key_width=4, payload_width=9)
    return ComparePipeline(layout, queue=QUEUE, margin=MARGIN)


@pytest.mark.parametrize("predicate", ["equi", "band:1", "lt"])
@pytest.mark.parametrize("stall", [0.0, 0.7])
def test_pairs_that_match_become_results(predicate, stall):
    """Whoever minds ``full`` loses nothing, though pairs that it has sent are still under way."""
    part, rng = pipeline(predicate), random.Random(1)
    pairs = [(rng.randrange(4), rng.randrange(4), rng.random() < 0.8) for _ in range(300)]
    holds = parse_predicate(predicate).holds
    expected = [
        n for n, (r, s, valid) in enumerate(pairs) if valid and holds(SimpleNamespace(key=r), SimpleNamespace(key=s))
    ]
    out: list = []

    async def send(ctx):
        for n, (r, s, valid) in enumerate(pairs):
            while ctx.get(part.full):
                await ctx.tick()
            ctx.set(part.i, {"r": {"key": r, "payload": n}, "s": {"key": s, "payload": 511 - n}, "valid": valid})
            await ctx.tick()
            ctx.set(part.i.valid, 0)

    run(part, send, sink(part.o, len(expected), out, stall))
    assert [(item.payload_r, item.payload_s) for _, item in out] == [(n, 511 - n) for n in expected]


def test_it_says_where_a_pair_is():
    """Compared, put into the queue ``LATENCY`` cycles after it entered, and waiting until it is taken."""
    part, seen = pipeline("equi"), []

    async def bench(ctx):
        ctx.set(part.i.valid, 1)
        await ctx.tick()
        ctx.set(part.i.valid, 0)
        for _ in range(ComparePipeline.LATENCY + 3):
            seen.append((ctx.get(part.under_way), ctx.get(part.waiting), ctx.get(part.o.valid)))
            await ctx.tick()
        ctx.set(part.o.ready, 1)
        await ctx.tick()
        seen.append((ctx.get(part.under_way), ctx.get(part.waiting), ctx.get(part.o.valid)))

    run(part, bench)
    assert seen == [(1, 0, 0), (2, 0, 0), (0, 1, 0), (0, 1, 1), (0, 1, 1), (0, 0, 0)]


@pytest.mark.parametrize("sent", [QUEUE - 1, QUEUE])
def test_it_warns_when_the_queue_is_used_up(sent):
    part, full = pipeline("equi"), []

    async def bench(ctx):
        ctx.set(part.i.valid, 1)
        await ctx.tick().repeat(sent + 1)  # one of them goes on to the exit of the queue
        ctx.set(part.i.valid, 0)
        await ctx.tick().repeat(5)
        full.append(ctx.get(part.full))

    run(part, bench)
    assert full == [sent == QUEUE]
