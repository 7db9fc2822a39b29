"""The way of results: each comes out once, from however many streams, one by one or several in a transfer."""

import pytest

from streamjoin.hdl.hash.results import Results
from tests.hdl.hash.test_result_packer import transfers
from tests.hdl.stream_bench import run, sink, source

COUNT = 40


@pytest.mark.parametrize("stall", [0.0, 0.6])
@pytest.mark.parametrize(("leaves", "width"), [(2, 1), (8, 1), (2, 2), (2, 4), (8, 4)])
def test_each_result_comes_once_and_those_of_a_stream_in_order(leaves, width, stall):
    results, came = Results(16, leaves, width), []
    items = [[leaf << 8 | n for n in range(COUNT)] for leaf in range(leaves)]
    sources = [source(results.i[leaf], items[leaf], 0.3, seed=leaf) for leaf in range(leaves)]
    if width == 1:
        taker = sink(results.o, leaves * COUNT, came, stall)
    else:
        taker = transfers(results.o, came, leaves * COUNT, stall)

    async def finish(ctx):
        await taker(ctx)
        ctx.set(results.o.ready, 0)
        await ctx.tick().repeat(4)
        assert not ctx.get(results.busy)

    run(results, *sources, finish)
    found = [item for _, item in came] if width == 1 else [item for transfer in came for item in transfer]
    assert [[item for item in found if item >> 8 == leaf] for leaf in range(leaves)] == items
    if width > 1:
        assert max(map(len, came)) == min(width, leaves)


@pytest.mark.parametrize("width", [1, 2])
def test_what_waits_inside_is_busy(width):
    results = Results(16, 8, width)

    async def bench(ctx):
        await source(results.i[1], [7])(ctx)
        for _ in range(10):
            assert ctx.get(results.busy)
            await ctx.tick()

    run(results, bench)
