"""What is missing by overflow: by the definition, pair by pair, and segment by segment."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.compare import compare
from streamjoin.reference.join import count_overflows, window_join
from streamjoin.reference.overflow import lost_results, needed_rooms, with_overflows
from streamjoin.reference.predicates import parse_predicate
from streamjoin.reference.segments import cut
from streamjoin.reference.vectorised import window_join_array
from tests.strategies import arrivals, predicates, windows

EQUI = parse_predicate("equi")


def by_definition(tuples, predicate, spans):
    """Every combination in which each tuple is less than its own stream's span older than the latest."""
    rows = list(tuples.rows())
    streams = [[number for number, row in enumerate(rows) if row.stream == stream] for stream in range(len(spans))]
    return [
        numbers
        for numbers in product(*streams)
        if all(rows[max(numbers)].time - rows[n].time < span for n, span in zip(numbers, spans, strict=True))
        if all(predicate.holds(rows[a], rows[b]) for a, b in pairwise(numbers))
    ]


def lost(tuples, predicate, wins):
    return [tuple(row) for rows in lost_results(tuples, predicate, wins) for row in rows.tolist()]


@pytest.mark.parametrize("streams", [2, 3])
def test_what_the_rooms_allow_and_what_is_lost_are_the_join_of_the_spans(streams):
    @given(
        arrivals(streams, max_size=24, timed=True),
        predicates(),
        windows(streams, max_room=4, timed=True),
    )
    def check(tuples, predicate, wins):
        whole = by_definition(tuples, predicate, wins.spans)
        missing = lost(tuples, predicate, wins)
        assert sorted(window_join(tuples, predicate, wins) + missing) == sorted(whole)
        assert not missing or count_overflows(tuples, wins)

    check()


@given(arrivals(max_size=40, timed=True), windows(timed=True))
def test_the_needed_room_is_the_least_without_overflows(tuples, wins):
    needed = needed_rooms(tuples, wins)
    assert count_overflows(tuples, Windows(needed, wins.spans)) == 0
    for less in ((needed[0] - 1, needed[1]), (needed[0], needed[1] - 1)):
        assert min(less) == 0 or count_overflows(tuples, Windows(less, wins.spans)) > 0


@given(
    arrivals(max_size=30, timed=True),
    predicates(),
    windows(max_room=3, timed=True),
    st.lists(st.integers(0, 30), max_size=4),
)
def test_segments_miss_what_the_whole_misses(tuples, predicate, wins, cuts):
    nothing = compare([], np.empty((0, 2)))
    bounds = sorted({0, len(tuples), *(c for c in cuts if c <= len(tuples))})
    segments = [cut(tuples, wins, a, b) for a, b in pairwise(bounds)]
    missing = [
        with_overflows(nothing, lost_results(s.arrivals, predicate, wins), since=s.warm_up).missing_by_overflow
        for s in segments
    ]
    assert sum(missing) == len(lost(tuples, predicate, wins))
    rooms = [needed_rooms(segment.arrivals, wins) for segment in segments]
    assert not rooms or tuple(map(max, *rooms, (1, 1))) == needed_rooms(tuples, wins)


def test_a_result_of_the_spans_is_never_extra():
    """A window of 1, and a design that keeps one more: of what it should not have, it gives some rightly."""
    tuples = Arrivals([0, 0, 0, 1, 1], [5, 5, 5, 5, 6], time=[0, 1, 2, 3, 4])
    wins = Windows((1, 1), 9)
    assert window_join(tuples, EQUI, wins) == [(2, 3)]
    given_by_it = [(1, 3), (2, 3), (2, 4), (1, 3)]
    strict = compare(window_join_array(tuples, EQUI, wins), given_by_it)
    difference = with_overflows(strict, lost_results(tuples, EQUI, wins))
    assert difference.counts == {"missing": 0, "extra": 1, "repeated": 1, "missing_by_overflow": 1}
    assert difference.describe() == ("0 missing, 1 extra ((2, 4)), 1 repeated ((1, 3)), 1 missing by overflow ((0, 3))")
    assert not difference.design_is_right


def test_the_first_lost_results_are_shown():
    tuples = Arrivals([0] * 9 + [1], [5] * 10, time=range(10))
    right = compare([(8, 9)], [(8, 9)])
    difference = with_overflows(right, lost_results(tuples, EQUI, Windows((1, 1), 99)))
    assert difference.design_is_right
    assert not difference.exact
    assert difference.describe() == (
        "0 missing, 0 extra, 0 repeated, 8 missing by overflow ((0, 9), (1, 9), (2, 9), …)"
    )


def test_spans_far_longer_than_times_reach():
    tuples = Arrivals([0, 0, 1], [5] * 3, time=[0, 1, 2**62])
    wins = Windows((1, 1), (2**70, 1))
    assert needed_rooms(tuples, wins) == (2, 1)
    assert sorted(lost(tuples, EQUI, wins)) == [(0, 2)]
    assert cut(tuples, wins, 2, 3).warm_up == 2


def test_every_pair_of_spans_around_a_tie():
    tuples = Arrivals([0, 1, 1, 0], [5] * 4, time=[3, 3, 4, 5])
    for spans in combinations([1, 1, 2, 2, 3, 3], 2):
        found = window_join(tuples, EQUI, Windows((4, 4), spans))
        assert sorted(found) == sorted(by_definition(tuples, EQUI, spans))
        assert (0, 1) in found  # at the same time
