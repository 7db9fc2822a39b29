"""Scanners find ranks, and probers find ranges, as a search in the sorted array would."""

from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.bisort.prober import PartitionScanner, Prober
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.bisort.sorted_lines import in_lines, index, partition_of, ranks, stored
from tests.hdl.stream_bench import memory, run, sink, source

KEYS = st.one_of(st.integers(0, 63), st.sampled_from((0, 7, 63)))
SUBWINDOW, LANES, REGION = 32, 2, 2


def make(predicate, partitions):
    layout = TupleLayout(parse_predicate(predicate), key_width=6, payload_width=8)
    return SortedArrays(layout, (SUBWINDOW, 1), SUBWINDOW, partitions, 16, LANES)


def lines_of(arrays, keys):
    items = [stored(key) for key in keys]
    return in_lines(items, LANES, REGION * SUBWINDOW, arrays.places // LANES)


@settings(max_examples=12)
@given(
    keys=st.lists(KEYS, min_size=1, max_size=SUBWINDOW),
    passes=st.lists(st.lists(st.integers(0, 64), min_size=1, max_size=12), min_size=1, max_size=3),
    partitions=st.sampled_from((1, 4)),
    stall=st.sampled_from((0.0, 0.5)),
)
def test_ranks_are_what_a_search_finds(keys, passes, partitions, stall):
    """Pass after pass over one array: bounds begin anew, and so does the scan; a partition is read once in each."""
    keys.sort()
    arrays = make("equi", partitions)
    scanner = PartitionScanner(arrays, ahead=2, waiting=4)
    passes = [sorted(bounds) for bounds in passes]
    found, asked = [], []

    async def bench(ctx):
        ctx.set(scanner.array, {"region": REGION, "count": len(keys)})
        for n, bounds in enumerate(passes):
            ctx.set(scanner.first, 1)
            await ctx.tick()
            ctx.set(scanner.first, 0)
            await source(scanner.i, bounds, stall)(ctx)
            for _ in range(500):
                if len(found) == sum(map(len, passes[: n + 1])):
                    break
                await ctx.tick()

    background = [
        memory(scanner.memory, lines_of(arrays, keys), latency=3, asked=asked),
        index(scanner.index, {REGION: keys}, arrays.partition),
    ]
    run(scanner, bench, sink(scanner.o, sum(map(len, passes)), found, stall, within=2000), background=background)
    assert [rank for _, rank in found] == [rank for bounds in passes for rank in ranks(keys, bounds)]
    partitions_read = sum(len({partition_of(keys, bound, arrays.partition) for bound in bounds}) for bounds in passes)
    assert len(asked) <= partitions_read * arrays.partition // LANES


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
    low, high = arrays.layout.predicate.key_ranges[nth]
    if not of_s:
        low, high = -high, -low
    expected = []
    for payload, key in enumerate(probes):
        first, end = ranks(keys, [key + low, key + high + 1])
        if first != end:
            expected.append((payload, REGION * SUBWINDOW + first, end - first))
    out, probed = [], []

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

    benches = [memory(port, lines_of(arrays, keys), latency=3) for port in prober.memory]
    benches += [index(port, {REGION: keys}, arrays.partition) for port in prober.index]
    run(prober, begin, sink(prober.o, len(expected), out, stall), finish, background=(*benches, count))
    assert sum(probed) == len(probes)
    assert [(item.probe.payload, item.first, item.count) for _, item in out] == expected
