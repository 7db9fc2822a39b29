"""Chains of links give the contract's result whatever memories held, and however long walks take."""

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.join import window_join
from streamjoin.reference.models.hash_window import HashJoin, HashWindow
from streamjoin.reference.predicates import parse_predicate
from tests import strategies

EQUI = parse_predicate("equi")
PREDICATES = ("equi", "band:1", "band:2", "band:3", "bands:-4..-2,1..1", "bands:0..3,2..5", "bands:5..5")
KEYS = [(0,), (5, 9), range(12), strategies.KEYS]


def hasty(random: Random, patience: float):
    """A schedule that mostly lets the next tuple arrive if it may: with little patience, walks last for long."""
    return lambda choices: 0 if random.random() >= patience else random.randrange(choices)


@settings(max_examples=200)
@given(
    data=st.data(),
    spec=st.sampled_from(PREDICATES),
    keys=st.sampled_from(KEYS),
    timed=st.booleans(),
    slack=st.integers(2, 9),
    buckets=st.sampled_from([1, 2, 8]),
    laps=st.integers(0, 2),
    patience=st.sampled_from([1.0, 0.5, 0.1]),
)
def test_exact_under_any_schedule_from_any_memory_contents(data, spec, keys, timed, slack, buckets, laps, patience):
    windows = data.draw(strategies.windows(timed=timed))
    random = data.draw(st.randoms(use_true_random=False))
    predicate = parse_predicate(spec)
    join = HashJoin(predicate, windows, random, slack=slack, buckets=buckets, laps=laps)
    for cut in (data.draw(st.none() | st.integers(0, 60)), None):
        arrivals = data.draw(strategies.arrivals(keys=tuple(keys), timed=timed))
        results = Counter(join.run(arrivals, hasty(random, patience), cut))
        right = Counter(window_join(arrivals, predicate, windows))
        assert results == right if cut is None else results <= right


def wrong_runs(predicate, keys: int, runs: int = 40, window: int = 6, **options) -> int:
    """In how many of these runs a model differs from what is right."""
    windows, wrong = Windows((window, window)), 0
    for seed in range(runs):
        random = Random(seed)
        arrivals = Arrivals(
            stream=np.array([random.randrange(2) for _ in range(150)]),
            key=np.array([random.randrange(keys) for _ in range(150)]),
        )
        join = HashJoin(predicate, windows, random, **options)
        results = join.run(arrivals, hasty(random, 0.3), 5000)  # some of the wrong ones never end
        wrong += Counter(results) != Counter(window_join(arrivals, predicate, windows))
    return wrong


@pytest.mark.parametrize("keys", [1, 3])
def test_without_the_guard_hot_keys_overtake_their_walks(keys):
    assert wrong_runs(EQUI, keys) == 0
    assert wrong_runs(EQUI, keys, guarded=False) > 10


def test_the_slack_is_used_to_the_last_place(monkeypatch):
    """With an epoch longer by one, a walk meets a tuple that came later."""

    def longer(self, *args, **kwargs):
        create(self, *args, **kwargs)
        self._epoch += 1

    create = HashWindow.__init__
    monkeypatch.setattr(HashWindow, "__init__", longer)
    assert wrong_runs(EQUI, 1, slack=2) > 0


def test_links_that_are_not_checked_cost_visits_and_nothing_else():
    def visits(**options):
        random = Random(1)
        arrivals = Arrivals(np.arange(4000) % 2, np.array([random.randrange(400) for _ in range(4000)]))
        join = HashJoin(EQUI, windows := Windows((40, 40)), random, slack=20, buckets=80, laps=2, **options)
        assert Counter(join.run(arrivals, hasty(random, 0.5))) == Counter(window_join(arrivals, EQUI, windows))
        return join.counts.visits

    assert wrong_runs(EQUI, 5, checked=False) == wrong_runs(parse_predicate("band:2"), 12, checked=False) == 0
    assert visits(checked=False) > 1.1 * visits()


def test_what_a_walk_has_to_look_at(monkeypatch):
    """How far it may go, and to which bank a tuple belongs: it is wrong to leave out one or the other."""

    def boundless(self, walk):
        walk.left = self._places
        return visit(self, walk)

    def of_any_bank(self, walk):
        seen = self._tuples[walk.place]
        visit(self, walk)
        return seen

    visit, band = HashWindow.visit, parse_predicate("band:2")
    assert wrong_runs(band, 12, laps=0) == 0
    for rash in (boundless, of_any_bank):
        monkeypatch.setattr(HashWindow, "visit", rash)
        assert wrong_runs(band, 12, runs=10, laps=0) > 0


def test_counts():
    """All keys are equal: a walk visits the whole window, and the guard holds tuples back."""
    arrivals = Arrivals(np.arange(200) % 2, np.zeros(200))
    join = HashJoin(EQUI, Windows((10, 10)), Random(1), slack=4, buckets=1)
    results = join.run(arrivals, hasty(Random(1), 0.5))
    assert join.counts.walks == 199
    assert join.counts.visits == len(results)
    assert join.counts.in_vain == 0 < join.counts.held_back
