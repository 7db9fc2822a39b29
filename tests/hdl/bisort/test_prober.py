"""The index finds partitions, and probers find ranges, as a search in the sorted array would."""

from bisect import bisect_left

from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.bisort.index_array import IndexArray
from streamjoin.hdl.bisort.prober import Prober
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import memory, run, sink, source

KEYS = st.one_of(st.integers(0, 63), st.sampled_from((0, 7, 63)))
SUBWINDOW, LANES, REGION = 32, 2, 2


def make(predicate, partitions):
    layout = TupleLayout(parse_predicate(predicate), key_width=6, payload_width=8)
    return SortedArrays(layout, (SUBWINDOW, 1), SUBWINDOW, partitions, 16, LANES)


def stored(key, payload=0):
    return {"key": key, "payload": payload, "number": 0, "others": 0}


def partition_of(keys, bound, size):
    """The last partition that begins below the bound, or the first."""
    return max([0, *(place // size for place in range(0, len(keys), size) if keys[place] < bound)])


@settings(max_examples=10)
@given(keys=st.lists(KEYS, min_size=1, max_size=SUBWINDOW), partitions=st.sampled_from((1, 2, 4, 16)))
def test_the_index_finds_the_partition(keys, partitions):
    keys.sort()
    arrays = make("equi", partitions)
    index = IndexArray(arrays, 1)
    found = []

    async def bench(ctx):
        for line in range(0, len(keys), LANES):
            ctx.set(index.write, 1)
            ctx.set(index.line, (REGION * SUBWINDOW + line) // LANES)
            ctx.set(index.key, keys[line])
            await ctx.tick()
        ctx.set(index.write, 0)
        await ctx.tick().repeat(2)
        last = (len(keys) - 1) // arrays.partition
        for bound in range(65 + 2 * 16):
            ctx.set(index.searches.request.valid, bound < 65)
            ctx.set(index.searches.request.p.what, {"region": REGION, "last": last, "bound": min(bound, 64)})
            response = index.searches.response
            _, _, valid, partition = await ctx.tick().sample(response.valid, response.p.what)
            if valid:
                found.append(partition)

    run(index, bench)
    assert found == [partition_of(keys, bound, arrays.partition) for bound in range(65)]


@settings(max_examples=12)
@given(
    keys=st.lists(KEYS, min_size=1, max_size=SUBWINDOW),
    probes=st.lists(KEYS, min_size=1, max_size=12),
    partitions=st.sampled_from((1, 4)),
    nth=st.integers(0, 1),
    of_s=st.booleans(),
    stall=st.sampled_from((0.0, 0.5)),
)
def test_records_are_what_a_search_finds(keys, probes, partitions, nth, of_s, stall):
    keys.sort()
    probes.sort()
    arrays = make("bands:-9..-4,2..3", partitions)
    prober = Prober(arrays, ahead=2, waiting=4)
    places = [stored(0)] * arrays.places
    places[REGION * SUBWINDOW : REGION * SUBWINDOW + len(keys)] = [stored(key) for key in keys]
    lines = [places[n : n + LANES] for n in range(0, arrays.places, LANES)]
    low, high = arrays.layout.predicate.key_ranges[nth]
    if not of_s:
        low, high = -high, -low
    expected = []
    for payload, key in enumerate(probes):
        first, end = (bisect_left(keys, key + offset) for offset in (low, high + 1))
        if first != end:
            expected.append((payload, REGION * SUBWINDOW + first, end - first))
    out, probed = [], []

    def index(port):
        async def bench(ctx):
            ctx.set(port.request.ready, 1)
            async for _, _, valid, request in ctx.tick().sample(port.request.valid, port.request.p):
                ctx.set(port.response.valid, valid)
                if valid:
                    assert request.region == REGION
                    ctx.set(port.response.p, partition_of(keys, request.bound, arrays.partition))

        return bench

    async def begin(ctx):
        ctx.set(prober.array, {"region": REGION, "count": len(keys)})
        ctx.set(prober.of_s, of_s)
        ctx.set(prober.range, nth)
        ctx.set(prober.first, 1)
        await ctx.tick()
        ctx.set(prober.first, 0)
        await source(prober.i, [stored(key, payload) for payload, key in enumerate(probes)], stall)(ctx)

    async def count(ctx):
        async for _, _, one in ctx.tick().sample(prober.probed):
            probed.append(one)

    async def finish(ctx):
        for _ in range(2000):
            await ctx.tick()
            if sum(probed) == len(probes):
                return

    benches = [memory(port, lines, latency=3) for port in prober.memory] + [index(port) for port in prober.index]
    run(prober, begin, sink(prober.o, len(expected), out, stall), finish, background=(*benches, count))
    assert sum(probed) == len(probes)
    assert [(item.probe.payload, item.first, item.count) for _, item in out] == expected
