"""A predicate as text says what the predicate says."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference.predicate_text import predicate_text
from streamjoin.reference.predicates import Predicate, parse_predicate

SPECS = ["equi", "ne", "lt", "le", "gt", "ge", "band:3", "bands:-9..-7,2..4", "band2:3,5"]
keys = st.builds(SimpleNamespace, key=st.integers(0, 20), key2=st.integers(0, 20))


@pytest.mark.parametrize("spec", SPECS)
@given(keys, keys)
def test_the_text_is_the_predicate(spec, r, s):
    predicate = parse_predicate(spec)
    assert eval(predicate_text(predicate), {"r": r, "s": s}) == predicate.holds(r, s)


@pytest.mark.parametrize(
    ("holds", "text"),
    [
        (lambda r, s: r.key == s.key, "r.key == s.key"),
        (lambda r, s: (r.key <= s.key + 8) & (s.key > 5), "(r.key <= (s.key + 8)) & (s.key > 5)"),
        (lambda a, b: 2 - a.key - (b.key - 1) != np.int64(3), "((2 - r.key) - (s.key - 1)) != 3"),
        (lambda r, s: (np.uint8(3) + r.key < 5) | (s.key >= 7), "((3 + r.key) < 5) | (s.key >= 7)"),
        (lambda *_: True, "1"),
    ],
)
def test_whatever_computes_has_a_text(holds, text):
    assert predicate_text(Predicate("own:own", holds)) == text


@pytest.mark.parametrize(
    "holds",
    [
        lambda r, s: r.key == s.key and r.key < 5,
        lambda r, s: r.key in {s.key},
        lambda r, s: r.payload == s.payload,
        lambda r, s: r.key - s.key == 0.5,
        lambda r, s: r.key * s.key == 1,
        lambda *_: "yes",
    ],
)
def test_what_symbols_cannot_follow_has_none(holds):
    assert predicate_text(Predicate("own:own", holds)) is None
