"""Layouts: what a tuple and a result hold, and the payloads of ports."""

import pytest

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


def test_a_port_carries_one_tuple_or_one_result():
    layout = TupleLayout(parse_predicate("equi"))
    assert layout.input_payload("r") == layout.input_payload("s") == layout.arrival
    assert layout.output_payload == layout.result


def test_or_slots_for_several_and_those_of_s_tell_how_many_of_r_come_before():
    layout = TupleLayout(parse_predicate("equi"), key_width=5, payload_width=3, width=4, results_width=2)
    slots = {side: layout.input_payload(side)["slots"].shape for side in layout.sides}
    assert [slots[side].length for side in layout.sides] == [4, 4]
    assert slots["r"].elem_shape == layout.arrival
    assert [*slots["s"].elem_shape.members] == [*layout.arrival.members, "after"]
    assert slots["s"].elem_shape["after"].width == 3, "none to all of them"
    assert layout.output_payload["slots"].shape.elem_shape == layout.result
    assert layout.output_payload["slots"].shape.length == 2


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"width": 0}, "a port has slots from 1 up, not 0 for tuples and 1 for results"),
        ({"results_width": 0}, "not 1 for tuples and 0 for results"),
        ({"width": 2, "sides": ("s1", "s2", "s3")}, "several tuples a cycle are for two streams, not for 3"),
    ],
)
def test_impossible_slots(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        TupleLayout(parse_predicate("equi"), **wrong)
