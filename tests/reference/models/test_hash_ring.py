"""The ring of units gives the contract's result in whatever order operations come home, and none gets stuck."""

import dataclasses
from collections import Counter
from functools import partial
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.join import window_join
from streamjoin.reference.models.hash_ring import HashRing, Ring, Store
from streamjoin.reference.models.message_chain import DeadlockError
from streamjoin.reference.predicates import parse_predicate
from tests import strategies

EQUI, BAND = parse_predicate("equi"), parse_predicate("band:2")
PREDICATES = ("equi", "equi", "band:1", "band:2", "band:3", "bands:-4..-2,1..1", "bands:0..3,2..5", "bands:5..5")
#: How bands are looked up, and whether operations come home in order.
WAYS = [("copies", False), ("copies", True), ("probes", True)]
#: Steps after which what does not end is wrong.
LONG = 10**5


def hasty(random: Random, calm: float, power: float):
    """A schedule that prefers what comes first, and lets tuples arrive, or what comes last, and finishes walks."""
    return lambda choices: 0 if random.random() < calm else min(choices - 1, int(choices * random.random() ** power))


@settings(max_examples=100)
@given(
    data=st.data(),
    spec=st.sampled_from(PREDICATES),
    keys=st.sampled_from([(0,), (5, 9), range(20), strategies.KEYS]),
    timed=st.booleans(),
    way=st.sampled_from(WAYS),
    calm=st.sampled_from([0, 0.3, 0.8]),
    power=st.sampled_from([1 / 12, 1 / 4, 1, 4, 12]),
)
def test_exact_under_any_schedule_from_any_memory_contents(data, spec, keys, timed, way, calm, power):
    ring = Ring(
        units=data.draw(st.integers(1, 5)),
        epoch=data.draw(st.sampled_from([1, 2, 3, 5, 8])),
        ahead=data.draw(st.integers(1, 3)),
        depth=data.draw(st.integers(2, 3)),
        buckets=data.draw(st.sampled_from([1, 2, 8])),
        laps=data.draw(st.integers(1, 3)),
        block=data.draw(st.integers(0, 3)),
        bands=way[0],
        in_order=way[1],
    )
    windows = data.draw(strategies.windows(timed=timed))
    random = data.draw(st.randoms(use_true_random=False))
    predicate = parse_predicate(spec)
    model = HashRing(ring, predicate, windows, random)
    for cut in (data.draw(st.none() | st.integers(0, 200)), None):
        arrivals = data.draw(strategies.arrivals(keys=tuple(keys), timed=timed, max_size=80))
        results = Counter(model.run(arrivals, hasty(random, calm, power), cut))
        right = Counter(window_join(arrivals, predicate, windows))
        assert results == right if cut is None else results <= right


def outcomes(make, runs: int = 50, predicate=EQUI, rooms=None, length: int = 120, **options) -> Counter:
    """How runs end: right, wrong, or with which error; few keys that come in turns, sizes that differ."""
    ends = Counter()
    for seed in range(runs):
        random = Random(seed)
        windows = Windows(rooms or (random.choice((1, 2, 5, 9, 14)), random.choice((1, 2, 5, 9, 14))))
        keys, turn = random.choice((1, 2, 5, 20)), random.choice((1, 20))
        stream = [random.randrange(2) if turn == 1 else n // turn % 2 for n in range(length)]
        arrivals = Arrivals(np.array(stream), np.array([random.randrange(keys) for _ in range(length)]))
        sizes = {"units": random.randint(1, 5), "epoch": random.choice((1, 2, 3, 5, 8)), "ahead": random.randint(1, 2)}
        model = make(Ring(**(sizes | options)), predicate, windows, random)
        try:
            results = model.run(arrivals, hasty(random, random.choice((0, 0.3)), random.choice((1 / 4, 1, 4))), LONG)
        except (DeadlockError, LookupError) as error:
            ends[type(error)] += 1
        else:
            ends[Counter(results) == Counter(window_join(arrivals, predicate, windows))] += 1
    return ends


class FIFOsOfTheirOwn(HashRing):
    """R and S pass each other between two units."""

    def _actions(self):
        yield from super()._actions()
        for unit, behind in enumerate(self._behind):
            overtaking = [n for n, operation in enumerate(behind) if operation.row.stream != behind[0].row.stream]
            if overtaking and self._has_room((unit + 1) % self.ring.units):
                yield partial(self._overtake, unit, overtaking[0])

    def _overtake(self, unit, place):
        operation = self._behind[unit][place]
        del self._behind[unit][place]
        self._handle(operation, (unit + 1) % self.ring.units)


class Unguarded(HashRing):
    def _may_arrive(self):
        return True


class Orderly(HashRing):
    """Takes the one that looks for the later one."""

    def _is_due(self, x, y):
        latest = self.ring.delay - 1
        back = (x.others - y.number + latest) % self._moduli[y.row.stream] - latest
        return 0 < back <= self._windows.rooms[y.row.stream]


class OneBitLess(Ring):
    def number_bits(self, window):
        return super().number_bits(window) - 1


class OneTickLess(Ring):
    def marks(self, window):
        return super().marks(window) - 1

    def number_bits(self, window):
        return super().number_bits(window) + 4

    def least_room(self, window, copies=1):
        return super().least_room(window, copies) + 8 * self.epoch


def of(rash: type[Ring]):
    return lambda ring, *arguments: HashRing(rash(**vars(ring)), *arguments)


def test_what_these_runs_do_when_all_is_right():
    assert set(outcomes(HashRing)) == {True}


@pytest.mark.parametrize("rash", [FIFOsOfTheirOwn, Unguarded, Orderly, of(OneBitLess), of(OneTickLess)])
def test_no_rule_can_be_left_out(rash):
    assert outcomes(rash, units=3)[False] > 0


def test_in_order_the_one_that_looks_is_the_later_one():
    assert set(outcomes(Orderly, in_order=True)) == {True}


def test_what_a_stored_tuple_knows_of_the_other_stream_matters_in_narrow_windows_alone(monkeypatch):
    def forgetful(self, operation):
        store(self, dataclasses.replace(operation, others=random.randrange(16)))

    random, store = Random(1), Store.store
    monkeypatch.setattr(Store, "store", forgetful)
    assert set(outcomes(HashRing, rooms=(4, 9), epoch=2, ahead=1)) == {True}
    assert outcomes(HashRing, rooms=(3, 3), epoch=2, ahead=1)[False] > 0


def test_a_walk_ends_where_places_are_free(monkeypatch):
    monkeypatch.setattr(Store, "_is_live", lambda *_: True)
    assert outcomes(HashRing, runs=20)[False] > 0


def test_probes_of_two_blocks_must_come_in_order():
    bands = partial(outcomes, HashRing, runs=30, predicate=BAND, units=3, epoch=3)
    assert set(bands(bands="probes", in_order=True)) == {True}
    assert bands(bands="probes", in_order=False)[False] > 0
    assert set(bands(bands="copies", in_order=False)) == {True}


def stuck(make) -> int:
    """How many runs of two units get stuck, while first one and then the other has more than it can store."""
    windows, ends = Windows((12, 12)), Counter()
    for seed in range(15):
        random = Random(seed)
        keys = [n // 20 % 4 if random.random() < 0.8 else random.randrange(4) for n in range(250)]
        arrivals = Arrivals(np.array([random.randrange(2) for _ in keys]), np.array(keys))
        try:
            make(Ring(units=2, epoch=3), EQUI, windows, random).run(arrivals, hasty(random, 0.8, 1))
        except DeadlockError:
            ends["stuck"] += 1
    return ends["stuck"]


def test_home_must_leave_a_place_in_the_ring():
    class Greedy(HashRing):
        def _has_room(self, unit, places=1):
            return super()._has_room(unit)

    assert stuck(HashRing) == 0 < stuck(Greedy)


def test_bounds():
    """For windows of 4096 and 8 units of 1024 places, shorter epochs let an operation take longer."""
    for epoch, ahead in ((512, 1), (256, 4)):
        ring = Ring(units=8, epoch=epoch, ahead=ahead)
        assert ring.delay == (ahead + 1) * epoch
        assert ring.least_room(4096) == 4096 + 3 * ring.delay + epoch - 2 <= 8 * 1024
        assert ring.number_bits(4096) == 13
    assert Ring(units=1, epoch=1).least_room(1) == 6
    assert Ring(units=1, epoch=1).least_room(1, copies=2) == 2 * 6


def test_counts():
    """All keys are equal: what comes home finds no place there, and goes on until it does."""
    arrivals = Arrivals(np.arange(400) % 2, np.zeros(400))
    model = HashRing(Ring(units=4, epoch=4), EQUI, Windows((40, 40)), Random(1))
    results = model.run(arrivals, hasty(Random(1), 0.3, 1))
    assert len(results) == len(window_join(arrivals, EQUI, Windows((40, 40)))) <= model.counts.visits
    assert model.counts.spilled > 200
    assert model.counts.units.total() == 400
    assert max(model.counts.units) > 1
    assert model.counts.held_back > 0
