"""The tiny join is exact whatever comes and whatever stalls, and does what its docstring says in as many cycles."""

import numpy as np
import pytest
from tiny_join.parameters import LARGEST_WINDOW

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.run.bench_suite import run_design_benches
from streamjoin.sim.run.random_cases import hold_to_reference
from streamjoin.sim.run.simulate import Simulator

DESIGN = find("tiny_join.design:DESIGN")
SETS = [
    "preset=smallest",
    "window_r=5 window_s=2 queue=1 on_full=drop predicate=band:2",
    "window_r=1 window_s=7 span_r=9 span_s=4 predicate=le",
    "window=6 span=12 on_full=drop key_width=5 payload_width=12 time_width=14 predicate=band2:1,2",
    "window_r=13 window_s=8 predicate=ne key_width=62 payload_width=64",
]


def simulator(words: str) -> Simulator:
    return Simulator.build(DESIGN, DESIGN.parameters(**dict(word.split("=") for word in words.split())))


@pytest.mark.parametrize("words", SETS)
def test_random_cases(words):
    assert hold_to_reference(simulator(words), cases=200) > 1000


def test_the_bench():
    report = run_design_benches(DESIGN, DESIGN.parameters(window_r=5, window_s=3, predicate="band:2"))
    assert report.failures == ()
    assert report.passed > 20


def test_what_a_tuple_costs():
    """A cycle, and one more for each result, which leaves in the third cycle after its later tuple was taken."""
    arrivals = Arrivals(stream=[0, 0, 1, 1, 0], key=[5, 5, 5, 6, 5])
    outcome = simulator("window=4").run(arrivals)
    assert outcome.exact
    assert np.diff(outcome.run.accepted_cycle).tolist() == [1, 1, 3, 1]
    assert outcome.latencies.tolist() == [3, 4, 3]


def test_a_window_too_large_is_refused():
    with pytest.raises(ParameterError, match=f"window_s must be at most {LARGEST_WINDOW}, not 2000"):
        DESIGN.parameters(window_s=2000)
