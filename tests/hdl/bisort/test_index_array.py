"""The index array finds the partition that a search in the sorted array would, a search a cycle."""

from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.bisort.index_array import CYCLES_A_STEP, IndexArray
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.bisort.sorted_lines import partition_of
from tests.hdl.stream_bench import run

KEYS = st.one_of(st.integers(0, 63), st.sampled_from((0, 7, 63)))
SUBWINDOW, LANES = 32, 2
CLIENTS = 3


@settings(max_examples=10)
@given(
    regions=st.lists(st.lists(KEYS, min_size=1, max_size=SUBWINDOW), min_size=1, max_size=2),
    partitions=st.sampled_from((1, 2, 4, 16)),
)
def test_the_index_finds_the_partition(regions, partitions):
    """Of whichever region, for every bound, for whoever asks; after the cycles that are promised, in every cycle."""
    regions = [sorted(keys) for keys in regions]
    layout = TupleLayout(parse_predicate("equi"), key_width=6, payload_width=8)
    arrays = SortedArrays(layout, (SUBWINDOW, 1), SUBWINDOW, partitions, 16, LANES)
    index = IndexArray(arrays, CLIENTS)
    requests = [(region, bound) for bound in range(65) for region in range(len(regions))]
    steps = partitions.bit_length() - 1
    found = []

    async def bench(ctx):
        for region, keys in enumerate(regions):
            for line in range(0, len(keys), LANES):
                ctx.set(index.write, 1)
                ctx.set(index.line, (region * SUBWINDOW + line) // LANES)
                ctx.set(index.key, keys[line])
                await ctx.tick()
        ctx.set(index.write, 0)
        await ctx.tick().repeat(2)
        for n in range(len(requests) + CYCLES_A_STEP * steps + 1):
            region, bound = requests[min(n, len(requests) - 1)]
            last = (len(regions[region]) - 1) // arrays.partition
            ctx.set(index.searches.request.valid, n < len(requests))
            what = {"region": region, "last": last, "bound": bound}
            ctx.set(index.searches.request.p, {"what": what, "client": n % CLIENTS})
            _, _, ready, valid, response = await ctx.tick().sample(
                index.searches.request.ready, index.searches.response.valid, index.searches.response.p
            )
            assert ready
            assert valid == (CYCLES_A_STEP * steps <= n < len(requests) + CYCLES_A_STEP * steps)
            if valid:
                found.append((response.what, response.client))

    run(index, bench)
    expected = [partition_of(regions[region], bound, arrays.partition) for region, bound in requests]
    assert found == [(partition, n % CLIENTS) for n, partition in enumerate(expected)]
