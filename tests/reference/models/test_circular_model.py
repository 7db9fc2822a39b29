"""The ring of stages gives the contract's result under every schedule, and none gets stuck."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.join import window_join
from streamjoin.reference.models.circular import CircularRing, explore
from streamjoin.reference.models.message_chain import DeadlockError
from streamjoin.reference.predicates import parse_predicate
from tests import strategies

EQUI = parse_predicate("equi")


def arrivals_of(streams) -> Arrivals:
    """All keys are equal."""
    return Arrivals(np.array(streams), np.zeros(len(streams)))


@settings(max_examples=300)
@given(
    data=st.data(),
    streams=st.integers(3, 5),
    timed=st.booleans(),
    predicate=strategies.predicates(),
    buffer=st.integers(1, 2),
    flight=st.integers(1, 9),
)
def test_exact_under_any_schedule(data, streams, timed, predicate, buffer, flight):
    arrivals = data.draw(strategies.arrivals(streams, max_size=14, timed=timed))
    windows = data.draw(strategies.windows(streams, max_room=3, timed=timed))
    random = data.draw(st.randoms(use_true_random=False))
    ring = CircularRing(arrivals, predicate, windows, buffer=buffer, flight=flight)
    assert Counter(ring.run(random.randrange)) == Counter(window_join(arrivals, predicate, windows))


@pytest.mark.parametrize(
    ("streams", "rooms"),
    [([0, 1, 2, 0, 1, 2], (2, 2, 2)), ([2, 2, 1, 0, 0, 1], (2, 1, 2)), ([0, 1, 2, 1, 0, 2, 2], (1, 1, 1))],
)
def test_exact_and_never_stuck_in_every_state_there_is(streams, rooms):
    """All combinations match, buffers hold one message: every schedule there is."""
    arrivals, windows = arrivals_of(streams), Windows(rooms)
    states, ends = explore(ring := CircularRing(arrivals, EQUI, windows, buffer=1, flight=4))
    assert states > 1000
    for end in ends:
        ring.check_end(end)
        assert end.results == tuple(sorted(window_join(arrivals, EQUI, windows)))


def test_one_scan_for_all_depths_gets_stuck():
    """What the paper has, and what the scan of each depth is for."""
    arrivals = arrivals_of([0, 1, 2] * 8)
    stuck = 0
    for seed in range(20):
        ring = CircularRing(arrivals, EQUI, Windows((4, 4, 4)), buffer=1, flight=12, contexts="one")
        try:
            ring.run(Random(seed).randrange)
        except DeadlockError:
            stuck += 1
    assert stuck > 0


def test_more_in_flight_than_order_control_can_hold_would_be_noticed():
    class Rash(CircularRing):
        def _oldest(self, state):
            return state.admitted

    def run_some(ring):
        for seed in range(40):
            ring(arrivals, EQUI, Windows((1, 1, 1)), flight=1).run(Random(seed).randrange)

    arrivals = arrivals_of([1, 0] + [1] * 6 + [2])
    run_some(CircularRing)
    with pytest.raises(LookupError, match="overwritten"):
        run_some(Rash)


def test_counts():
    """Without haste nothing is stored too early; all at once, it is, and all the same nothing is compared in vain."""
    arrivals, windows = arrivals_of([0, 1, 2] * 6), Windows((2, 2, 2))
    calm = CircularRing(arrivals, EQUI, windows, flight=1)
    calm.run(lambda _: 0)
    hasty = CircularRing(arrivals, EQUI, windows, flight=6)
    hasty.run(lambda _: 0)
    assert calm.counts.refined == calm.counts.recomputed == 0
    assert hasty.counts.refined > hasty.counts.recomputed > 0
    assert calm.counts.comparisons == hasty.counts.comparisons
