"""One merger of several: it finds where its part of the merged array begins, and makes just that part."""

from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.bisort.path_merger import PathMerger
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.bisort.sorted_lines import in_lines, stored
from tests.hdl.stream_bench import memory, plain, run

LAYOUT = TupleLayout(parse_predicate("equi"), key_width=6, payload_width=12)
KEYS = st.one_of(st.integers(0, 63), st.just(7))
SUBWINDOW = 32
FRESH = 1000  # what payloads of the batch begin with


def merged(main, batch):
    """The outcome as (key, payload): of equal keys the main array's come first, each array's in their order."""
    both = [(key, place) for place, key in enumerate(main)] + [(key, FRESH + place) for place, key in enumerate(batch)]
    return sorted(both, key=lambda each: (each[0], each[1] >= FRESH))


def split_at(main, batch, begin):
    """How many of the first ``begin`` tuples of the outcome are of the main array, and of the batch."""
    first = merged(main, batch)[:begin]
    fresh = sum(payload >= FRESH for _, payload in first)
    return {"mains": len(first) - fresh, "fresh": fresh}


def hardware(main, batch, begin, end, *, lanes, latency):
    """Where it begins in both arrays, and the lines that it writes, by number."""
    arrays = SortedArrays(LAYOUT, (SUBWINDOW, 1), SUBWINDOW, 1, SUBWINDOW, lanes)
    merger, lines = PathMerger(arrays, ahead=2), {}
    job = {"main": SUBWINDOW, "mains": len(main), "batch": arrays.half, "fresh": len(batch), "into": 2 * SUBWINDOW}
    mains = in_lines([stored(key, n) for n, key in enumerate(main)], lanes, SUBWINDOW, arrays.places // lanes)
    fresh = [stored(key, FRESH + n) for n, key in enumerate(batch)]
    mine = None

    async def bench(ctx):
        nonlocal mine
        ctx.set(merger.job, job)
        ctx.set(merger.begin, begin)
        ctx.set(merger.start, 1)
        await ctx.tick()
        ctx.set(merger.start, 0)
        for cycle in range(600):
            # The next merger may know late where it begins, and lines may have to wait.
            if cycle == 40:
                for name, value in {"known": 1, **split_at(main, batch, end)}.items():
                    ctx.set(getattr(merger.next, name), value)
            ctx.set(merger.o.ready, cycle % 3 != 0)
            _, _, done, known, at_main, at_fresh, valid, ready, line = await ctx.tick().sample(
                merger.done,
                merger.mine.known,
                merger.mine.mains,
                merger.mine.fresh,
                merger.o.valid,
                merger.o.ready,
                merger.o.p,
            )
            assert not (valid and cycle < 40), "it does not know where to stop"
            if known:
                mine = {"mains": at_main, "fresh": at_fresh}
            if valid and ready:
                assert line.number not in lines, "a line was written twice"
                lines[line.number] = [(one["key"], one["payload"]) for one in plain(line.line)]
            if done and not valid and cycle > 100:
                return
        raise AssertionError("it did not end")

    batches = in_lines(fresh, lanes, arrays.half, 2 * arrays.half // lanes)
    run(merger, bench, background=[memory(merger.main, mains, latency), memory(merger.batch, batches, latency)])
    return mine, lines


@settings(max_examples=12)
@given(data=st.data(), lanes=st.sampled_from((1, 2, 4)), latency=st.sampled_from((1, 5)))
def test_it_makes_its_part_of_the_merged_array(data, lanes, latency):
    main = sorted(data.draw(st.lists(KEYS, max_size=16)))
    batch = sorted(data.draw(st.lists(KEYS, min_size=1, max_size=16)))
    total = len(main) + len(batch)
    begin = lanes * data.draw(st.integers(0, -(-total // lanes)))
    end = min(total, begin + lanes * data.draw(st.integers(0, 4)))
    mine, lines = hardware(main, batch, begin, max(begin, end), lanes=lanes, latency=latency)
    assert mine == split_at(main, batch, min(begin, total))
    part = merged(main, batch)[begin:end]
    first = (2 * SUBWINDOW + begin) // lanes
    assert sorted(lines) == list(range(first, first + -(-len(part) // lanes)))
    assert [one for _, line in sorted(lines.items()) for one in line][: len(part)] == part
