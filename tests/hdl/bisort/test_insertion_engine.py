"""Mergers side by side give the merged array, as fast as their number says."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.bisort.insertion_engine import InsertionEngine
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import memory, run

LAYOUT = TupleLayout(parse_predicate("equi"), key_width=6, payload_width=12)
KEYS = st.one_of(st.integers(0, 63), st.just(7))


def stored(key, payload):
    return {"key": key, "payload": payload, "number": 0, "others": 0}


def in_lines(keys, first, lanes, lines, offset=0):
    """A memory of so many lines, with these keys from the place ``first`` on; payloads are places."""
    places = [stored(0, 0)] * (lines * lanes)
    places[first : first + len(keys)] = [stored(key, offset + place) for place, key in enumerate(keys)]
    return [places[lanes * n : lanes * (n + 1)] for n in range(lines)]


def merge(main, batch, *, mergers, lanes, subwindow, latency=1, ahead=8):
    """The merged array as (key, payload), and the cycles it took."""
    arrays = SortedArrays(LAYOUT, (subwindow, 1), subwindow, 1, subwindow, lanes)
    engine = InsertionEngine(arrays, mergers=mergers, ahead=ahead)
    lines = arrays.places // lanes
    mains = in_lines(main, subwindow, lanes, lines)
    batches = in_lines(batch, 0, lanes, 2 * arrays.half // lanes, offset=1000)
    written, cycles = {}, []
    job = {"main": subwindow, "mains": len(main), "batch": 0, "fresh": len(batch), "into": 2 * subwindow}

    async def bench(ctx):
        ctx.set(engine.job, job)
        await ctx.tick()
        ctx.set(engine.start, 1)
        ctx.set(engine.o.ready, 1)
        await ctx.tick()
        ctx.set(engine.start, 0)
        for cycle in range(2000):
            _, _, busy, valid, line = await ctx.tick().sample(engine.busy, engine.o.valid, engine.o.p)
            if valid:
                assert line.number not in written, "a line was written twice"
                written[line.number] = [(one.key, one.payload) for one in line.line]
            if not busy:
                cycles.append(cycle)
                return

    run(engine, bench, background=(memory(engine.main, mains, latency), memory(engine.batch, batches, latency)))
    assert cycles, "it did not end"
    assert sorted(written) == list(range(2 * subwindow // lanes, 2 * subwindow // lanes + len(written)))
    total = len(main) + len(batch)
    return [one for _, line in sorted(written.items()) for one in line][:total], cycles[0]


@pytest.mark.slow
@settings(max_examples=8)
@given(data=st.data(), mergers=st.sampled_from((1, 2, 4, 8)), latency=st.sampled_from((1, 5)))
def test_the_outcome_is_the_merged_array(data, mergers, latency):
    lanes = data.draw(st.sampled_from([n for n in (1, 2, 4, 8) if n >= mergers]))
    main = sorted(data.draw(st.lists(KEYS, max_size=32)))
    batch = sorted(data.draw(st.lists(KEYS, min_size=1, max_size=64 - len(main))))
    merged, _ = merge(main, batch, mergers=mergers, lanes=lanes, subwindow=64, latency=latency)
    assert [key for key, _ in merged] == sorted(main + batch)
    places = [*range(len(main)), *range(1000, 1000 + len(batch))]
    assert sorted(payload for _, payload in merged) == places


@pytest.mark.slow
@pytest.mark.parametrize("mergers", [1, 8])
def test_each_merger_gives_a_tuple_a_cycle(mergers):
    """All but the search for where to begin, which does not depend on how much there is to merge."""
    cycles = {}
    for rounds in (100, 300):
        main = sorted((n * 37) % 61 for n in range(mergers * rounds - 64))
        batch = sorted((n * 41) % 63 for n in range(64))
        _, cycles[rounds] = merge(main, batch, mergers=mergers, lanes=mergers, subwindow=4096)
    assert 200 / (cycles[300] - cycles[100]) >= 0.95
