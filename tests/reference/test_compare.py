import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference.compare import compare

# The large numbers do not fit one 64-bit code for a row of two.
rows = st.lists(st.tuples(*[st.sampled_from((0, 1, 2, 3, 2**40))] * 2), max_size=12)


@given(expected=rows.map(lambda r: list(set(r))), got=rows)
def test_difference_of_multisets(expected, got):
    difference = compare(expected, got)
    assert difference.missing.tolist() == sorted(map(list, set(expected) - set(got)))
    assert difference.extra.tolist() == sorted(map(list, set(got) - set(expected)))
    assert difference.repeated.tolist() == [list(r) for r in sorted(set(got)) for _ in range(got.count(r) - 1)]
    assert difference.exact == (sorted(expected) == sorted(got))


def test_order_is_free():
    assert compare([(0, 1), (2, 3)], [(2, 3), (0, 1)]).exact


def test_nothing_is_nothing():
    assert compare([], np.empty((0, 3))).exact
    assert compare([], []).describe() == "exact"
    assert compare([], [(1, 2, 3)]).faults == {"missing": 0, "extra": 1, "repeated": 0}


def test_description_shows_the_first_few():
    difference = compare([(i, 9) for i in range(5)], [(0, 9), (0, 9), (0, 9), (-1, 2**62)])
    assert difference.describe(limit=2) == (
        "4 missing ((1, 9), (2, 9), …), 1 extra ((-1, 4611686018427387904)), 2 repeated ((0, 9), (0, 9))"
    )


def test_rows_for_other_streams_are_refused():
    with pytest.raises(ValueError, match="reshape"):
        compare([(1, 2)], [(1, 2, 3)])
