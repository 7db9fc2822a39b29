"""Payloads that tuples are recognised by: all different, every bit of them used, and read back exactly."""

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.hdl.registry import find
from streamjoin.sim.run.simulate import Simulator, design_verilog
from streamjoin.sim.run.verilate import build_library
from streamjoin.sim.tuples.numbering import numbers, payloads
from streamjoin.sim.tuples.workload import Workload


@pytest.mark.parametrize("width", range(1, 13))
def test_narrow_payloads_are_a_permutation(width):
    every = np.arange(1 << width)
    scrambled = payloads(every, width)
    assert sorted(scrambled.tolist()) == every.tolist()
    assert numbers(scrambled, width).tolist() == every.tolist()


@given(st.data(), st.integers(1, 64))
def test_numbers_come_back(data, width):
    some = data.draw(st.lists(st.integers(0, min(1 << width, 1 << 63) - 1), unique=True))
    scrambled = payloads(np.array(some, np.int64), width)
    assert numbers(scrambled, width).tolist() == some
    assert len(set(scrambled.tolist())) == len(some)
    assert all(0 <= payload < 1 << width for payload in scrambled.tolist())


@given(st.integers(1, 62).flatmap(lambda width: st.tuples(st.just(width), st.integers(0, (1 << width) - 1))))
def test_every_payload_has_a_number(case):
    width, payload = case
    number = numbers(np.array([payload]), width)
    assert 0 <= number[0] < 1 << width
    assert payloads(number, width).tolist() == [payload]


def test_numbers_that_no_tuple_can_have_stay_greater_than_all():
    beyond = np.array([2**63, 2**63 + 8, 2**64 - 1], np.uint64)
    assert numbers(payloads(beyond, 64), 64).tolist() == [2**62, 2**62 + 4, 2**63 - 1]


def test_payloads_wider_than_machine_words():
    some = payloads(np.arange(1000), 130).tolist()
    assert len(set(some)) == 1000
    assert max(some) >> 129 == 1


@pytest.mark.parametrize("width", [3, 7, 10, 16, 31, 32, 33, 40, 62, 63, 64, 65, 130])
@pytest.mark.parametrize("stream", [0, 1])
def test_every_bit_takes_both_values_within_a_few_tuples(width, stream):
    """Also of one stream alone where streams take turns: no bit tells R from S."""
    some = payloads(np.arange(stream, min(40, 1 << width), 2), width).tolist()
    for bit in range(width):
        assert {payload >> bit & 1 for payload in some} == {0, 1}, f"bit {bit} never moves"


def test_greater_numbers_than_fit_begin_anew():
    assert payloads(np.arange(16, 24), 3).tolist() == payloads(np.arange(8), 3).tolist()


@pytest.mark.parametrize("bit", [20, 63])
def test_a_design_that_loses_a_bit_of_a_payload_is_noticed(bit):
    """Whatever its results then seem to be of: the difference is told, and nothing else breaks."""
    design = find("nested-loop")
    parameters = design.parameters(window=4, payload_width=64)
    right = design_verilog(design, parameters)
    # The input of R is a key of 32 bits and the payload.
    text, lines = re.subn(r"(?<=\br\[95:0\] <= )i_r__payload;", rf"i_r__payload & ~(96'h1 << {32 + bit});", right.text)
    assert lines == 1
    wrong = dataclasses.replace(right, text=text)
    simulation = Simulator(design, parameters, wrong, build_library(wrong), 0.0).run(
        Workload(match_rate=0.5).slice(0, 99)
    )
    assert not simulation.exact
    summary = simulation.summary()
    assert summary["check"]["extra"] == summary["check"]["missing"] > 20
    assert (simulation.numbers[:, 1] < 99).all()
    assert (simulation.numbers[:, 0] >= 99).any()
    assert len(simulation.latencies) == summary["results"] - summary["check"]["extra"]
