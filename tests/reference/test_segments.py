from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.compare import compare
from streamjoin.reference.join import count_overflows, window_join
from streamjoin.reference.segments import cut
from tests.strategies import arrivals, predicates, windows


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("streams", [2, 3])
def test_segments_together_are_the_whole(streams, timed):
    @given(
        arrivals(streams, max_size=30, timed=timed),
        predicates(),
        windows(streams, max_room=5, timed=timed),
        st.lists(st.integers(0, 30), max_size=4),
    )
    def check(tuples, predicate, wins, cuts):
        bounds = sorted({0, len(tuples), *(c for c in cuts if c <= len(tuples))})
        segments = [cut(tuples, wins, a, b) for a, b in pairwise(bounds)]
        results = [segment.results(window_join(segment.arrivals, predicate, wins)) for segment in segments]
        joined = np.concatenate(results) if results else []
        difference = compare(window_join(tuples, predicate, wins), joined)
        assert difference.exact, difference.describe()
        assert sum(segment.overflows(wins) for segment in segments) == count_overflows(tuples, wins)

    check()


def test_warm_up_is_what_the_windows_hold():
    tuples = Arrivals([0, 1, 0, 0, 1, 1], [0, 1, 2, 3, 4, 5], time=[0, 1, 2, 3, 4, 5])
    segment = cut(tuples, Windows((2, 4)), 4, 6)
    assert segment.numbers.tolist() == [1, 2, 3, 4, 5]
    assert segment.warm_up == 3
    assert segment.arrivals.key.tolist() == [1, 2, 3, 4, 5]
    assert cut(tuples, Windows((2, 4), 2), 4, 6).numbers.tolist() == [3, 4, 5]


def test_warm_up_of_spans_is_whatever_the_room():
    tuples = Arrivals([0, 1, 0, 0, 1, 1], [0, 1, 2, 3, 4, 5], time=[0, 1, 2, 3, 4, 5])
    assert cut(tuples, Windows((1, 1), (3, 4)), 4, 6).numbers.tolist() == [1, 2, 3, 4, 5]
    assert cut(tuples, Windows((1, 1), (4, 3)), 4, 6).numbers.tolist() == [2, 3, 4, 5]
    assert cut(tuples, Windows((1, 1), (9, 1)), 5, 6).numbers.tolist() == [0, 2, 3, 5]
    assert cut(tuples, Windows((1, 1), (9, 9)), 6, 6).numbers.tolist() == []


def test_a_segment_looks_back_no_further_than_needed():
    class Counting:
        furthest = 10**9

        def slice(self, start, stop):
            self.furthest = min(self.furthest, start)
            return Arrivals(np.arange(start, stop) % 2, np.arange(start, stop))

    source = Counting()
    assert cut(source, Windows((8, 8)), 10**6, 10**6 + 4).warm_up == 16
    assert source.furthest == 10**6 - 16

    class Timed(Counting):
        def slice(self, start, stop):
            return replace(super().slice(start, stop), time=np.arange(start, stop))

    source = Timed()
    assert cut(source, Windows((1, 2), (1000, 3)), 10**6, 10**6 + 4).warm_up == 500
    assert 10**6 - 2 * 1000 < source.furthest < 10**6 - 998


def test_a_segment_cannot_run_backwards():
    with pytest.raises(ValueError, match="give 0 <= a <= b"):
        cut(Arrivals([], []), Windows((1, 1)), 2, 1)
