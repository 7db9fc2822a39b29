"""What expressions tell of the differences of keys, beside the predicate itself on all small keys."""

import operator
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Row
from streamjoin.reference.key_ranges import KeyRanges, key_ranges
from streamjoin.reference.symbols import take_down
from tests import strategies

BOTH = ("key", "key2")
COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
SMALL = [Row(0, key, key2) for key, key2 in product(range(5), repeat=2)]

terms = st.one_of(
    st.builds(lambda field: lambda r, s: getattr(r, field) - getattr(s, field), st.sampled_from(BOTH)),
    st.builds(lambda field: lambda r, s: getattr(s, field) - getattr(r, field), st.sampled_from(BOTH)),
    st.builds(lambda field: lambda r, s: getattr(r, field) + s.key, st.sampled_from(BOTH)),
    st.builds(lambda number: lambda r, s: number - s.key + r.key + r.key2, st.integers(-3, 3)),
)
conditions = st.recursive(
    st.builds(
        lambda compare, term, number: lambda r, s: compare(term(r, s) + number, 1),
        st.sampled_from(COMPARISONS),
        terms,
        st.integers(-3, 3),
    ),
    lambda inner: st.builds(
        lambda join, a, b: lambda r, s: join(a(r, s), b(r, s)),
        st.sampled_from((operator.and_, operator.or_)),
        inner,
        inner,
    ),
    max_leaves=5,
)


def lies_in(ranges, difference: int) -> bool:
    if ranges is None:
        return True
    hits = sum((lo is None or lo <= difference) and (hi is None or difference <= hi) for lo, hi in ranges)
    assert hits <= 1
    return hits == 1


@given(conditions | strategies.conditions(BOTH))
def test_what_is_told_is_true(holds):
    told = key_ranges(take_down(holds, BOTH))
    for r, s in product(SMALL, SMALL):
        inside = lies_in(told.key, r.key - s.key) and lies_in(told.key2, r.key2 - s.key2)
        assert inside or not holds(r, s)
        assert not (told.exact and inside) or holds(r, s)


@pytest.mark.parametrize(
    ("holds", "told"),
    [
        (lambda r, s: r.key == s.key, KeyRanges(((0, 0),), exact=True)),
        (lambda r, s: 4 - s.key >= 1 - r.key, KeyRanges(((-3, None),), exact=True)),
        (lambda r, s: (r.key <= s.key + 8) & (s.key <= r.key + 2), KeyRanges(((-2, 8),), exact=True)),
        (lambda r, s: (r.key < s.key) | (s.key + 1 == r.key), KeyRanges(((None, -1), (1, 1)), exact=True)),
        (lambda r, s: (r.key == s.key) & (r.key < 5), KeyRanges(((0, 0),))),
        (lambda r, s: (r.key == s.key) & (r.key2 != s.key2), KeyRanges(((0, 0),), ((None, -1), (1, None)), exact=True)),
        (lambda r, s: (r.key == s.key) | (r.key2 == s.key2), KeyRanges()),
        (lambda r, s: r.key + s.key == 4, KeyRanges()),
        (lambda r, s: (r.key < s.key) & (s.key < r.key), KeyRanges()),
        (strategies.written("r.key < 5"), KeyRanges()),
        (lambda r, s: (r.key == s.key) & (r.key == r.key), KeyRanges(((0, 0),), exact=True)),
        (strategies.written("True"), KeyRanges(exact=True)),
        (strategies.written("False"), KeyRanges()),
    ],
)
def test_by_example(holds, told):
    assert key_ranges(take_down(holds, BOTH)) == told
