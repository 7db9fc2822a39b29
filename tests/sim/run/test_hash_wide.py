"""The hash join with several tuples a cycle: exact in random cases, and where homes have no room for their tuples."""

import functools

import numpy as np
import pytest

from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.run.model import Stalls
from streamjoin.sim.run.random_cases import hold_to_reference
from streamjoin.sim.run.simulate import Simulator

#: Each width, each number of results, and each way to split windows or to be full.
SETS = [
    "width=2 window_r=8 window_s=3 key_width=16 lane_queue=2",
    "width=4 window_r=1 window_s=9 results=2 span_r=4 span_s=30 on_full=drop",
    "width=8 window_r=20 window_s=5 results=4 key_width=7 payload_width=14 buckets=1",
]
#: Home has room for half of a window of one key.
FLOODED = "width=2 window_r=300 window_s=3 key_width=16"


@functools.cache
def simulator(words: str) -> Simulator:
    design = find("hash")
    return Simulator.build(design, design.parameters(**dict(word.split("=", 1) for word in words.split())))


@pytest.mark.parametrize("words", SETS)
def test_exact_in_random_cases(words):
    """Stalls, a reset in mid-run, any memory contents: cases that are short, and some in which numbers wrap."""
    assert hold_to_reference(simulator(words), cases=40) > 500
    assert hold_to_reference(simulator(words), cases=6, first=1000, size=1500) > 1000


def mostly_one_key(seed: int, count: int, key_width: int) -> Arrivals:
    """Nine of ten tuples have the same home, which cannot store all of them."""
    rng = np.random.default_rng(seed)
    key = np.where(rng.random(count) < 0.9, 1234 % (1 << key_width), rng.integers(0, 1 << key_width, count))
    return Arrivals(stream=rng.integers(0, 2, count), key=key)


@pytest.mark.parametrize("stalls", [Stalls(), Stalls(0.5, burst=40.0, seed=3)], ids=["free", "stalled"])
def test_tuples_for_which_home_has_no_room_go_on(stalls):
    for seed in range(4):
        arrivals = mostly_one_key(seed, 3000, 16)
        outcome = simulator(SETS[0]).run(arrivals, contents=seed + 5, output_stalls=stalls)
        assert outcome.exact, f"seed {seed}: {outcome.difference.describe()}"
        assert len(outcome.numbers) > 10_000


@pytest.mark.parametrize("count", [1800, 2300, 2900])
def test_who_passed_is_remembered_while_nobody_of_the_other_stream_comes(count):
    """What stands at the port of S meanwhile is as old as the last tuple that came by there."""
    stream = [1, *[0] * count, *[1] * 4]
    outcome = simulator(FLOODED).run(Arrivals(stream=stream, key=[1234] * len(stream)))
    assert outcome.exact, outcome.difference.describe()
    assert len(outcome.numbers) == count + 4 * 300


@pytest.mark.parametrize("flood", [0, 1])
def test_numbers_of_one_stream_wrap_while_the_other_waits(flood):
    """One that has left its window, but is not dead, is met by so many that their numbers come round."""
    window = simulator(FLOODED).parameters.windows[1 - flood]
    keys = [7, *range(100, 100 + window), *[7] * 4100]
    outcome = simulator(FLOODED).run(Arrivals(stream=[1 - flood] * (window + 1) + [flood] * 4100, key=keys))
    assert outcome.exact, outcome.difference.describe()
