"""The hash join in runs of many laps: numbers wrap, buckets are forgotten, walks outlast what is stored meanwhile."""

import functools

import numpy as np
import pytest

from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.run.model import Stalls
from streamjoin.sim.run.simulate import Simulator

#: More buckets than tuples, so that most of them are forgotten; a window of one tuple, and one that is not far from a
#: lap. Places are no power of two.
SETS = ["window=300 buckets=1024", "window_r=1 window_s=500 predicate=band:2 probe_queue=4"]
WALKED = 300


@functools.cache
def simulator(words: str) -> Simulator:
    design = find("hash")
    return Simulator.build(design, design.parameters(**dict(word.split("=", 1) for word in words.split())))


def seldom_met(seed: int, count: int) -> Arrivals:
    """Some keys all the time, and a thousand others once in many laps."""
    random = np.random.default_rng(seed)
    key = random.integers(0, 400, count) * 5
    seldom = random.random(count) < 0.01
    key[seldom] = random.integers(2000, 3000, seldom.sum())
    return Arrivals(stream=random.integers(0, 2, count), key=key)


@pytest.mark.parametrize("words", SETS)
def test_numbers_wrap_and_buckets_are_forgotten(words):
    """A number has 16 bits at most: so many tuples that both streams see all of them."""
    outcome = simulator(words).run(seldom_met(1, 300_000), contents=5)
    assert outcome.exact, outcome.difference.describe()
    assert len(outcome.numbers) > 100_000


@pytest.mark.parametrize("words", SETS)
def test_a_reset_after_some_laps_and_any_contents(words):
    for seed, contents in enumerate(("zeros", "ones", *range(6))):
        outcome = simulator(words).run(
            seldom_met(seed, 4000),
            output_stalls=Stalls(0.3 * (seed % 3), burst=20.0, seed=seed),
            reset_at=900 + 100 * seed,
            reset_cycles=1,
            contents=contents,
        )
        assert outcome.known_difference.design_is_right, f"{contents}: {outcome.known_difference.describe()}"


@pytest.mark.parametrize("stalls", [Stalls(), Stalls(0.9, burst=200.0, seed=2)], ids=["free", "stalled"])
@pytest.mark.parametrize("hot", [0, 1], ids="RS")
@pytest.mark.parametrize("words", [SETS[0], "width=4 window=300 results=4"], ids=["one", "wide"])
def test_what_a_walk_will_visit_is_not_overwritten(words, hot, stalls):
    """A window full of one key, tuples that ask for it, and a flood that nobody asks for; then another key.

    A walk that is alone takes four cycles a visit, and a tuple of the flood may come in each. Of the flood none finds
    anything, so no queue ever holds it back. Several tuples a cycle do not find room at the home of their key, and
    visit others.
    """
    stream, key, asked = [], [], 0
    for n, asking in enumerate([1, 2, 3, 1, 80, 9] * 3):
        stream += [hot] * WALKED + [1 - hot] * asking + [hot] * (900 + 37 * n)
        key += [n] * (WALKED + asking) + [*range(100, 1000 + 37 * n)]
        asked += asking
    outcome = simulator(words).run(Arrivals(stream=stream, key=key), output_stalls=stalls)
    assert outcome.exact, outcome.difference.describe()
    assert len(outcome.numbers) == asked * WALKED
    assert outcome.run.stall_cycles > 0, "tuples were held back"


def test_one_walk_after_the_other_while_others_rush_by():
    """Walks of any length begin at any time within an epoch."""
    random, count = np.random.default_rng(4), 12_000
    stream = (random.random(count) < 0.02).astype(int)
    key = np.where((stream == 1) | (random.random(count) < 0.3), 7, np.arange(count) + 1000)
    outcome = simulator(SETS[0]).run(Arrivals(stream=stream, key=key), output_stalls=Stalls(0.2, burst=30.0, seed=1))
    assert outcome.exact, outcome.difference.describe()


def test_all_keys_are_the_same_and_the_output_waits():
    for words in SETS:
        arrivals = Arrivals(stream=np.arange(2000) % 2, key=np.full(2000, 2**32 - 1))
        outcome = simulator(words).run(arrivals, output_stalls=Stalls(0.9, burst=1000.0, seed=1))
        assert outcome.exact, outcome.difference.describe()
