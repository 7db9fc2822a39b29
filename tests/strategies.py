"""Hypothesis strategies for the inputs of a join, shared by all tests."""

import operator
from functools import reduce

import numpy as np
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.predicates import Predicate, parse_predicate

# Few enough that most runs have matches, with both ends of 32 bits and neighbours that bands can reach.
KEYS = (0, 1, 2, 3, 7, 2**31, 2**32 - 3, 2**32 - 1)
SPECS = ("equi", "ne", "lt", "le", "gt", "ge", "band:0", "band:2", "bands:-4..-2,1..1", "bands:0..3,2..5")
SPECS2 = ("band2:1,2", "band2:0,4294967295")
_SMALL = st.integers(-3, 3)


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


def written(text: str):
    """The function of r and s that returns this."""
    return eval(f"lambda r, s: {text}")


def conditions(fields: tuple[str, ...] = ("key",), numbers=_SMALL) -> st.SearchStrategy:
    """Functions of r and s that return a condition on these fields: of both sides, of one or of none."""
    signs = st.sampled_from((operator.add, operator.sub))
    relations = st.sampled_from((operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge))

    def compared(sides: str):
        terms = st.tuples(signs, st.sampled_from(sides), st.sampled_from(fields))
        sums = st.builds(_summed, numbers, st.lists(terms, max_size=3))
        return st.builds(_joined, relations, sums, sums)

    comparisons = st.sampled_from(("r", "s", "rs")).flatmap(compared)
    words = st.sampled_from((operator.and_, operator.or_))
    return st.recursive(comparisons, lambda inner: st.builds(_joined, words, inner, inner), max_leaves=5)


def own_predicates(fields: tuple[str, ...] = ("key",)) -> st.SearchStrategy[Predicate]:
    """Predicates that have no name."""
    return conditions(fields).map(lambda holds: Predicate("own:own", holds, fields))


def _summed(number, terms):
    def total(r, s):
        values = ((sign, getattr({"r": r, "s": s}[side], field)) for sign, side, field in terms)
        return reduce(lambda value, term: term[0](value, term[1]), values, number)

    return total


def _joined(join, a, b):
    return lambda r, s: join(a(r, s), b(r, s))
