"""Layouts: what a tuple and a result hold."""

from streamjoin.hdl.pairing import Pairing
from streamjoin.reference.predicates import parse_predicate


def test_an_equi_join_of_32_bit_fields_gives_96_bits():
    pairing = Pairing(parse_predicate("equi"))
    assert pairing.tuple.size == 64
    assert pairing.result.size == 96
    assert list(pairing.result.members) == ["key", "payload_r", "payload_s"]


def test_other_joins_tell_both_keys():
    pairing = Pairing(parse_predicate("band2:1,2"), key_width=5, payload_width=3, spans=(9, 9), time_width=7)
    assert dict(pairing.tuple.members) == {"key": 5, "key2": 5, "time": 7, "payload": 3}
    assert list(pairing.result.members) == ["key_r", "key_s", "key2_r", "key2_s", "payload_r", "payload_s"]


def test_equal_settings_are_equal_pairings():
    assert Pairing(parse_predicate("band:3")) == Pairing(parse_predicate("band:3"))
    assert Pairing(parse_predicate("band:3")) != Pairing(parse_predicate("band:4"))
    assert Pairing(parse_predicate("equi"), spans=(3, 3)) != Pairing(parse_predicate("equi"))
