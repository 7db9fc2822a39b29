"""The sorter: every batch sorted, nothing lost, a tuple a cycle."""

import pytest
from amaranth.lib import data
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.hdl.bisort.sorter import MergeStage, Sorter
from tests.hdl.stream_bench import run, sink, source

TUPLE = data.StructLayout({"key": 6, "payload": 12})
KEYS = st.one_of(st.integers(0, 63), st.sampled_from((0, 63)))


def through(part, batches, stall=0.0):
    """The batches that come out, as (key, payload), and the cycle of each item; the payload is the place."""
    items = []
    for batch in batches:
        items += [{"tuple": {"key": key, "payload": place}, "end": 0} for place, key in enumerate(batch)]
        items.append({"tuple": {"key": 0, "payload": 0}, "end": 1})
    out = []
    run(part, source(part.i, items, stall), sink(part.o, len(items), out, stall))
    found = [[]]
    for _, item in out:
        if item.end:
            found.append([])
        else:
            found[-1].append((item.tuple.key, item.tuple.payload))
    assert found.pop() == []
    return found, [cycle for cycle, _ in out]


@settings(max_examples=15)
@given(data=st.data(), most=st.sampled_from((1, 2, 3, 4, 7, 16, 40)), stall=st.sampled_from((0.0, 0.3, 0.7)))
def test_batches_of_any_size_come_out_sorted(data, most, stall):
    batches = data.draw(st.lists(st.lists(KEYS, max_size=most), min_size=1, max_size=6))
    found, _ = through(Sorter(TUPLE, most), batches, stall)
    assert [[key for key, _ in batch] for batch in found] == [sorted(batch) for batch in batches]
    assert [sorted(place for _, place in batch) for batch in found] == [list(range(len(batch))) for batch in batches]


@pytest.mark.parametrize("order", ["random", "falling", "rising", "equal"])
def test_a_tuple_a_cycle(order):
    size, batches = 128, 8
    keys = {
        "random": [(n * 37 + 11) % 64 for n in range(size)],
        "falling": [63 - n // 2 for n in range(size)],
        "rising": [n // 2 for n in range(size)],
        "equal": [5] * size,
    }[order]
    _, cycles = through(Sorter(TUPLE, size), [keys] * batches)
    # Its way through seven stages apart, a batch takes as many cycles as it has tuples, and one for its end.
    first, last = cycles[0], cycles[-1]
    assert last - first < batches * (size + 2)
    assert first <= size + 7 * 4


@settings(max_examples=12)
@given(data=st.data(), run=st.sampled_from((1, 2, 4, 32)), stall=st.sampled_from((0.0, 0.5)))
def test_a_stage_makes_runs_of_twice_the_length(data, run, stall):
    """Two sorted runs become one, the first run's tuple first where keys are equal; the last may be short or alone."""
    batches = data.draw(st.lists(st.lists(KEYS, max_size=4 * run), min_size=1, max_size=3))

    def in_runs(keys, length):
        places = list(enumerate(keys))
        runs = [sorted(places[n : n + length], key=lambda each: each[1]) for n in range(0, len(places), length)]
        return [each for one in runs for each in one]

    given_runs = [[key for _, key in in_runs(batch, run)] for batch in batches]
    expected = [[(key, place) for place, key in in_runs(keys, 2 * run)] for keys in given_runs]
    assert through(MergeStage(TUPLE, run), given_runs, stall)[0] == expected


def test_a_stage_takes_an_item_a_cycle():
    batches = [[n // 2 for n in range(8)] + [n // 2 for n in range(8)]] * 6
    _, cycles = through(MergeStage(TUPLE, 8), batches)
    assert cycles[-1] - cycles[0] < 6 * (16 + 2)
