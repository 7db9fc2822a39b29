"""The random cases leave no bit of a tuple alone, and yet have results; a failing one can be made small."""

import dataclasses
from random import Random

import numpy as np
import pytest

from streamjoin.hdl.nested_loop.join import NestedLoopJoin
from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.errors import DesignError
from streamjoin.reference.vectorised import window_join_array
from streamjoin.sim.run.model import Stalls
from streamjoin.sim.run.random_cases import Case, hold_to_reference, random_case
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.numbering import payloads
from tests.sim.run.test_exact import EXAMPLES

SETS = [
    ("nested-loop", {"window": 6, "span": 9}),
    ("llhj", {"cores": 2, "window": 12, "span": 12, "predicate": "le", "key_width": 40, "time_width": 62}),
    ("handshake", {"cores": 3, "window": 12, "predicate": "bands:-4..-2,1..1", "payload_width": 64}),
    (
        "bisort",
        {"window": 8, "predicate": "band2:1,2", "key_width": 5, "payload_width": 12, "time_width": 14, "span": 9},
    ),
    ("stashed", {"window": 5, "span": 9}),
]


@pytest.mark.parametrize(
    ("design", "given_parameters"), SETS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_bit_takes_both_values_and_one_alone_tells_two_keys_apart(design, given_parameters):
    p = find(design).parameters(**given_parameters)
    ones, zeros, alone, with_results = {}, {}, set(), 0

    # Not by Hypothesis, whose numbers depend on which modules have been imported.
    for number in range(EXAMPLES):
        case = random_case(Random(number), p, 80)
        tuples = case.arrivals
        columns = {name: getattr(tuples, name) for name in p.layout.arrival.members if name != "payload"}
        columns["payload"] = payloads(np.arange(len(tuples)), p.payload_width)
        for name, column in columns.items():
            bits = column.astype(np.uint64)
            ones[name] = ones.get(name, 0) | int(np.bitwise_or.reduce(bits))
            zeros[name] = zeros.get(name, 0) | int(np.bitwise_or.reduce(~bits))
        r, s = (np.unique(tuples.key[tuples.stream == stream]) for stream in (0, 1))
        alone.update(np.unique(r[:, None] ^ s).tolist())
        with_results += len(window_join_array(tuples, p.predicate, Windows(p.windows, p.spans))) > 0
    for name, width in p.layout.arrival.members.items():
        moving = ones[name] & zeros[name] & (1 << width) - 1
        assert moving == (1 << width) - 1, f"bits of {name} never move: {(1 << width) - 1 & ~moving:b}"
    assert alone >= {1 << bit for bit in range(p.key_width)}
    assert with_results > EXAMPLES / 3


def test_a_failing_case_shrinks_to_the_tuples_that_make_it_fail():
    tuples = Arrivals(stream=[0, 1] * 30, key=np.arange(60))
    case = Case(tuples, Stalls(), Stalls(), reset_at=7)
    smaller = case.shrunk(lambda case: {12, 13, 47} <= set(case.arrivals.key.tolist()))
    assert smaller.arrivals.key.tolist() == [12, 13, 47]
    assert smaller.reset_at == 7


def with_a_longer_window(parameters):
    """A nested-loop join that keeps one tuple of R too many."""
    return NestedLoopJoin(dataclasses.replace(parameters, window_r=parameters.window_r + 1))


def test_a_design_is_held_to_the_reference():
    right = find("nested-loop")
    parameters = right.parameters(window_r=3, window_s=2)
    assert hold_to_reference(Simulator.build(right, parameters), cases=20) > 100
    wrong = dataclasses.replace(right, component=with_a_longer_window)
    # Four tuples of R, and one of S that matches the first of them.
    with pytest.raises(DesignError, match=r"random case \d+, cut to 5 tuples: .*1 extra"):
        hold_to_reference(Simulator.build(wrong, parameters), cases=20)
