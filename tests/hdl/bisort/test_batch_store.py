"""The store of batches: two of each stream, as they came, read through both ports; one is filled meanwhile."""

import random

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.bisort.batch_store import BatchStore
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.bisort.sorted_lines import stored
from tests.hdl.stream_bench import plain, run, source

LAYOUT = TupleLayout(parse_predicate("equi"), key_width=6, payload_width=12)
BATCH = 6


def items(batches):
    for batch in batches:
        yield from ({"tuple": one, "end": 0} for one in batch)
        yield {"tuple": stored(0), "end": 1}


@pytest.mark.parametrize("stall", [0.0, 0.6])
@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_batches_are_read_as_they_came(lanes, stall):
    """Whole, in both memories, through both ports at once, each client its own request's line in the next cycle."""
    rng = random.Random(lanes)
    arrays = SortedArrays(LAYOUT, (32, 32), 32, 1, BATCH, lanes)
    store = BatchStore(arrays, inserting=2, probing=3)
    batches = {
        side: [
            [stored(rng.randrange(64), rng.randrange(4096)) for _ in range(rng.choice((0, 1, 5, BATCH)))]
            for _ in range(12)
        ]
        for side in "rs"
    }

    async def line(ctx, n, number, client):
        port = (store.insert, store.probe)[n]
        ctx.set(port.request.p, {"what": number, "client": client})
        ctx.set(port.request.valid, 1)
        _, _, ready = await ctx.tick().sample(port.request.ready)
        assert ready
        ctx.set(port.request.valid, 0)
        _, _, valid, response = await ctx.tick().sample(port.response.valid, port.response.p)
        assert valid
        assert response.client == client
        return plain(response.what)

    async def reads(ctx):
        for n, (of_r, of_s) in enumerate(zip(batches["r"], batches["s"], strict=True)):
            await ctx.tick().until(store.ready)
            first, counts = ctx.get(store.first), (ctx.get(store.count_r), ctx.get(store.count_s))
            assert counts == (len(of_r), len(of_s))
            assert first == (n % 2) * arrays.half
            assert ctx.get(store.busy)
            # Others come in meanwhile, and do not touch these.
            await ctx.tick().repeat(rng.choice((1, 30)))
            for side, batch in ((0, of_r), (1, of_s)):
                ctx.set(store.of_s, side)
                for port, clients in ((0, 2), (1, 3)):
                    found = []
                    for number in range(first // lanes, (first + len(batch) + lanes - 1) // lanes):
                        found += await line(ctx, port, number, rng.randrange(clients))
                    assert found[: len(batch)] == batch
            ctx.set(store.release, 1)
            await ctx.tick()
            ctx.set(store.release, 0)
        await ctx.tick()
        assert not ctx.get(store.busy)
        assert not ctx.get(store.ready)

    run(
        store,
        source(store.i_r, items(batches["r"]), stall, seed=1),
        source(store.i_s, items(batches["s"]), stall, seed=2),
        reads,
    )


def test_it_takes_two_batches_of_a_stream_and_no_more():
    """One tuple a cycle until both halves are full; a batch that is processed makes room for another."""
    arrays = SortedArrays(LAYOUT, (32, 32), 32, 1, BATCH, 2)
    store, taken = BatchStore(arrays, inserting=1, probing=1), []

    async def bench(ctx):
        ctx.set(store.i_r.valid, 1)
        for cycle in range(3 * (BATCH + 1) + 10):
            ctx.set(store.i_r.p, {"tuple": stored(1), "end": len(taken) % (BATCH + 1) == BATCH})
            _, _, ready, complete = await ctx.tick().sample(store.i_r.ready, store.ready)
            assert not complete, "S has no batch yet"
            if ready:
                taken.append(cycle)

    run(store, bench)
    assert taken == list(range(2 * (BATCH + 1)))
