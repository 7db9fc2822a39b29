"""Layouts: what a tuple and a result hold."""

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.reference.predicates import parse_predicate


def test_an_equi_join_of_32_bit_fields_gives_96_bits():
    layout = TupleLayout(parse_predicate("equi"))
    assert layout.tuple.size == 64
    assert layout.result.size == 96
    assert list(layout.result.members) == ["key", "payload_r", "payload_s"]


def test_other_joins_tell_both_keys():
    layout = TupleLayout(parse_predicate("band2:1,2"), key_width=5, payload_width=3, spans=(9, 9), time_width=7)
    assert dict(layout.tuple.members) == {"key": 5, "key2": 5, "time": 7, "payload": 3}
    assert list(layout.result.members) == ["key_r", "key_s", "key2_r", "key2_s", "payload_r", "payload_s"]


def test_equal_settings_are_equal_pairings():
    assert TupleLayout(parse_predicate("band:3")) == TupleLayout(parse_predicate("band:3"))
    assert TupleLayout(parse_predicate("band:3")) != TupleLayout(parse_predicate("band:4"))
    assert TupleLayout(parse_predicate("equi"), spans=(3, 3)) != TupleLayout(parse_predicate("equi"))
