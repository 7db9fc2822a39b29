"""The range reader: all tuples of all ranges, in order, the last of each marked, as fast as it says."""

import pytest
from amaranth.lib import data
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.hdl.bisort.range_reader import RangeReader
from tests.hdl.stream_bench import memory, run, sink, source

PLACES = 32
TUPLE = data.StructLayout({"place": 6})
RANGES = st.tuples(st.integers(0, PLACES - 1), st.integers(1, PLACES)).map(
    lambda each: {"first": each[0], "count": min(each[1], PLACES - each[0])}
)


def reference(ranges):
    """Each tuple is the number of its place."""
    return [(each["first"] + n, int(n == each["count"] - 1)) for each in ranges for n in range(each["count"])]


def hardware(ranges, lanes=4, latency=1, ahead=4, stall=0.0):
    """The tuples, and the cycle of each."""
    reader, out, asked = RangeReader(TUPLE, lanes=lanes, places=PLACES, most=PLACES, ahead=ahead), [], []
    lines = [[{"place": place} for place in range(n, n + lanes)] for n in range(0, PLACES, lanes)]
    run(
        reader,
        source(reader.i, ranges, stall),
        sink(reader.o, len(reference(ranges)), out, stall),
        background=[memory(reader.memory, lines, latency, asked)],
    )
    touched = [(each["first"] + each["count"] - 1) // lanes - each["first"] // lanes + 1 for each in ranges]
    assert len(asked) == sum(touched), "each line of each range is asked for once"
    return [(item.tuple.place, item.last) for _, item in out], [cycle for cycle, _ in out]


@settings(max_examples=12)
@given(
    ranges=st.lists(RANGES, min_size=1, max_size=8),
    lanes=st.sampled_from((1, 2, 8)),
    latency=st.sampled_from((1, 6)),
    ahead=st.integers(1, 4),
    stall=st.sampled_from((0.0, 0.5)),
)
def test_ranges_come_whole_and_in_order(ranges, lanes, latency, ahead, stall):
    assert hardware(ranges, lanes, latency, ahead, stall)[0] == reference(ranges)


@pytest.mark.parametrize("latency", [1, 6, 11])
@pytest.mark.parametrize("lanes", [2, 4])
def test_a_tuple_a_cycle(lanes, latency):
    """Ranges of more than a line each, with room ahead for the way to the memory and back."""
    ranges = [{"first": first, "count": count} for first, count in ((0, 9), (3, 13), (17, 5), (2, 30), (20, 6))]
    out, cycles = hardware(ranges, lanes, latency, ahead=-(-(latency + 6) // lanes) + 2)
    assert out == reference(ranges)
    assert cycles[-1] - cycles[0] == len(out) - 1
