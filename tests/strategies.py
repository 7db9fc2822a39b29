"""Hypothesis strategies for the inputs of a join, shared by all tests."""

import numpy as np
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.predicates import Predicate, parse_predicate

# Few enough that most runs have matches, with both ends of 32 bits and neighbours that bands can reach.
KEYS = (0, 1, 2, 3, 7, 2**31, 2**32 - 3, 2**32 - 1)
SPECS = ("equi", "ne", "lt", "le", "gt", "ge", "band:0", "band:2", "bands:-4..-2,1..1", "bands:0..3,2..5")
SPECS2 = ("band2:1,2", "band2:0,4294967295")


@st.composite
def arrivals(draw, streams: int = 2, max_size: int = 40, keys=KEYS, two_keys: bool = False, timed: bool = False):
    """Arrivals in bursts: of single tuples, of many, or all of one stream; times with ties and gaps."""
    burst = st.tuples(st.integers(0, streams - 1), st.sampled_from((1, 1, 1, 2, 5, 16)))
    bursts = draw(st.lists(burst, max_size=max_size))
    stream = [index for index, length in bursts for _ in range(length)][:max_size]

    def column(elements):
        return draw(st.lists(elements, min_size=len(stream), max_size=len(stream)))

    key = st.sampled_from(keys)
    return Arrivals(
        stream=np.array(stream, np.uint8),
        key=column(key),
        key2=column(key) if two_keys else None,
        time=np.cumsum(column(st.sampled_from((0, 0, 1, 1, 2, 9))), dtype=np.int64) if timed else None,
    )


def windows(streams: int = 2, max_room: int = 12, timed: bool = False) -> st.SearchStrategy[Windows]:
    """Windows of different sizes, with spans, alike or not, if ``timed``."""
    rooms, span = st.tuples(*[st.integers(1, max_room)] * streams), st.integers(1, 20)
    return st.builds(Windows, rooms, span | st.tuples(*[span] * streams) if timed else st.none())


def predicates(two_keys: bool = False) -> st.SearchStrategy[Predicate]:
    """The built-in predicates, those on two keys only if the tuples have two."""
    return st.sampled_from(SPECS + SPECS2 if two_keys else SPECS).map(parse_predicate)
