"""Batches, of whatever size, do not change the result."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.join import window_join
from streamjoin.reference.models.bisort import batched_join, number_width, subwindows
from streamjoin.reference.predicates import parse_predicate
from tests.strategies import arrivals, predicates, windows

CUTS = st.sets(st.integers(0, 40))
EQUI = parse_predicate("equi")


@given(
    arrivals(two_keys=True, timed=True),
    predicates(two_keys=True),
    st.booleans().flatmap(lambda timed: windows(timed=timed)),
    CUTS,
    st.sampled_from((1, 2, 4, 8, 64)),
)
def test_batches_do_not_change_the_result(arrivals, predicate, windows, cuts, subwindow):
    found = batched_join(arrivals, predicate, windows, cuts, subwindow)
    assert sorted(found) == sorted(window_join(arrivals, predicate, windows))


def test_counts_may_wrap_round_while_the_other_stream_waits():
    """One stream stands still for so long that the counts of the other one wrap round many times."""
    for stands in (0, 1):
        for length in range(1, 70):
            stream = [stands, *[1 - stands] * length, stands, 1 - stands, stands]
            case = Arrivals(stream=np.array(stream), key=np.zeros(len(stream)))
            for cuts in (set(), set(range(100)), set(range(0, 100, 3))):
                found = batched_join(case, EQUI, Windows((3, 2)), cuts, 2)
                assert sorted(found) == sorted(window_join(case, EQUI, Windows((3, 2))))


def test_what_has_to_be_kept():
    assert [subwindows(room, 4) for room in (1, 4, 5, 8)] == [2, 2, 3, 3]
    assert number_width((8, 1), 4) == 5
