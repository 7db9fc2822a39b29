"""Shapes of stashed joins that are small, for tests of their parts."""

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.multiway.combination import Combination
from streamjoin.hdl.stashed.stash_shape import StashShape
from streamjoin.reference.predicates import parse_predicate

FLIGHT = 8


def combination(predicate="equi", span=None) -> Combination:
    spans = None if span is None else (span,) * 3
    layout = TupleLayout(
        parse_predicate(predicate),
        key_width=4,
        payload_width=10,
        time_width=10,
        spans=spans,
        sides=("s1", "s2", "s3"),
    )
    return Combination(layout, FLIGHT)


def shape(predicate="equi", span=None, *, windows=(5, 7), lanes=2, room=6) -> StashShape:
    return StashShape(combination(predicate, span), windows, lanes, room, slack=4, spare_bits=2)
