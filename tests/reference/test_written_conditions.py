"""Conditions as text say what the functions say that they were written down from."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference.predicates import parse_predicate, predicate_of

NUMBERS = st.integers(-9, 9)
FIELDS = st.sampled_from([(side, field) for side in "rs" for field in ("key", "key2")])
RELATIONS = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


@st.composite
def functions(draw):
    """Functions of r and s: a comparison of sums of fields, or two of them joined."""

    def comparison():
        terms = draw(st.lists(st.tuples(FIELDS, st.sampled_from([1, -1])), min_size=1, max_size=7))
        relation, number = RELATIONS[draw(st.sampled_from(sorted(RELATIONS)))], draw(NUMBERS)

        def holds(r, s):
            total = 0
            for (side, field), sign in terms:
                value = getattr({"r": r, "s": s}[side], field)
                total = total + value if sign > 0 else total - value
            return relation(total, number)

        return holds

    first, second = comparison(), comparison()
    return draw(
        st.sampled_from(
            [
                first,
                lambda r, s: first(r, s) & second(r, s),
                lambda r, s: first(r, s) | (second(r, s) & (r.key < s.key)),
            ]
        )
    )


@given(functions(), st.lists(st.integers(0, 12), min_size=4, max_size=4))
def test_what_is_written_down_is_read_again(function, values):
    predicate = predicate_of(function)
    again = parse_predicate(predicate.spec)
    assert again == predicate
    assert again.expression == predicate.expression
    assert again.fields == predicate.fields
    r, s = (SimpleNamespace(key=key, key2=key2) for key, key2 in (values[:2], values[2:]))
    assert bool(predicate.holds(r, s)) == bool(function(r, s))


@pytest.mark.parametrize(
    ("function", "spec"),
    [
        (lambda r, s: r.key == s.key, "r.key - s.key == 0"),
        (lambda r, s: r.key + r.key + r.key < s.key + 5, "3 * r.key - s.key < 5"),
        (lambda r, s: s.key2 > r.key + r.key, "- 2 * r.key + s.key2 > 0"),
        (lambda *_: True, "True"),
        (lambda *_: False, "False"),
    ],
)
def test_how_they_are_written(function, spec):
    assert predicate_of(function).spec == spec
    assert parse_predicate(spec).fields == (("key", "key2") if "key2" in spec else ("key",))


def test_equal_keys_are_equal_however_they_are_written():
    assert predicate_of(lambda r, s: s.key - r.key == 0).is_equi


@pytest.mark.parametrize(
    "text",
    [
        "r.key",
        "r.key * s.key < 3",
        "0 * r.key < 3",
        "r.payload == 3",
        "t.key == r.key",
        "r.key == s.key and r.key < 3",
        "r.key < s.key < 3",
        "r.key == open('x')",
        "r.key.__class__ == 3",
        "r.key == 1.5",
        "(r.key == 1",
        "(" * 5000 + "r.key",
        "not r.key == 3",
        "r.key & s.key",
    ],
)
def test_what_is_no_condition(text):
    with pytest.raises(ValueError, match=r"is no condition: write|return one condition") as caught:
        parse_predicate(text)
    assert len(str(caught.value)) <= 300
