"""The ring of units on a clock finds what it should, and takes as many tuples a cycle as we count on."""

import numpy as np
import pytest

from streamjoin.reference.models.hash_cycles import Clockwork, Sizes

NETWORKS = ("lanes", "ordered", "butterfly")


def keys_of(size: int, values: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    r, s = np.random.default_rng(seed).integers(0, values, (2, size))
    return r, s


def matches(keys: tuple[np.ndarray, np.ndarray], window: int) -> int:
    """R and S arrive in turn: R number n is among the last of S number m if 0 <= m - n < window, or later."""
    r, s = keys
    return sum(int(np.count_nonzero(r[back:] == s[: len(s) - back])) for back in range(1, window + 1)) + sum(
        int(np.count_nonzero(s[back:] == r[: len(r) - back])) for back in range(window)
    )


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize(("values", "places"), [(400, 64), (2, 32)])
def test_it_finds_what_it_should(network, values, places):
    """With few keys, too, when one home has far more than it can hold."""
    sizes = Sizes(lanes=2, units=4, places=places, epoch=8, window=64, network=network, depth=4, walks=4, ring_depth=4)
    model = Clockwork(sizes, keys := keys_of(800, values))
    counts = model.run()
    assert model.drain() == matches(keys, 64)
    assert (counts.passed > 0) == (values == 2)


@pytest.mark.parametrize(("network", "depth"), [("lanes", 4), ("ordered", 4), ("butterfly", 8)])
def test_eight_tuples_a_cycle(network, depth):
    sizes = Sizes(network=network, depth=depth, epoch=256, ahead=4, walks=16)
    counts = Clockwork(sizes, keys_of(12000, int(4096 / 0.05))).run()
    assert counts.tuples_per_cycle > 0.98 * 8


def test_as_many_units_as_lanes_are_too_few_in_order():
    few = Clockwork(Sizes(units=4, places=2048, network="ordered"), keys_of(12000, 80000)).run()
    assert few.tuples_per_cycle < 0.85 * 8
    assert few.network > 0


def test_one_long_walk_makes_the_guard_hold_tuples_back():
    """R has a hot key, which S has not; but some of S share its bucket."""
    r, s = keys_of(20000, 80000)
    r[np.random.default_rng(2).random(len(r)) < 0.05] = 1 << 40
    counts = Clockwork(Sizes(), (r, s)).run()
    assert counts.guard > 0.1 * counts.cycles
