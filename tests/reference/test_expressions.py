"""Expressions on arrays, beside the function itself on integers, at both ends of 63 bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Row
from streamjoin.reference.expressions import on_arrays
from streamjoin.reference.symbols import take_down
from tests.strategies import conditions, written

LAST = 2**63 - 1
BOTH = ("key", "key2")
KEYS = st.sampled_from((0, 1, 2, 3, 2**32 - 1, 2**32, 2**62, LAST - 1, LAST))
NUMBERS = st.integers(-3, 3) | st.sampled_from(
    (2**32, 2**62, -(2**62), LAST, -LAST, LAST + 1, 2**64, 10**20, -(10**20))
)
ROWS = st.lists(st.builds(Row, st.just(0), KEYS, KEYS), min_size=1, max_size=6)


@given(conditions(BOTH, numbers=NUMBERS), ROWS, ROWS)
def test_arrays_agree_with_integers(holds, some, others):
    r = Row(0, *(np.array([[getattr(row, field)] for row in some]) for field in BOTH))
    s = Row(0, *(np.array([getattr(row, field) for row in others]) for field in BOTH))
    found = on_arrays(take_down(holds, BOTH), r, s)
    assert found.dtype == bool
    assert found.tolist() == [[bool(holds(a, b)) for b in others] for a in some]


@pytest.mark.parametrize(
    ("text", "taken_down"),
    [
        ("r.key == s.key", "r.key - s.key == 0"),
        ("4 + r.key <= s.key", "r.key - s.key <= -4"),
        ("(r.key < 5) & (7 < s.key2)", "(r.key < 5) & (s.key2 > 7)"),
        ("r.key + r.key - 1 != r.key2 + s.key", "2 * r.key - r.key2 - s.key != 1"),
        ("(r.key < 1) | ((r.key < 2) | (r.key < 3))", "(r.key < 1) | (r.key < 2) | (r.key < 3)"),
        ("-s.key >= -3", "- s.key >= -3"),
        ("(r.key == s.key) | (r.key == r.key)", "True"),
        ("False & (r.key == s.key)", "False"),
        ("(r.key == 2) & True | (3 < 2)", "r.key == 2"),
    ],
)
def test_by_example(text, taken_down):
    assert str(take_down(written(text), BOTH)) == taken_down
