from math import sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.predicates import Predicate, parse_predicate
from streamjoin.reference.segments import cut
from streamjoin.sim.tuples.workload import ARRIVALS, KEYS, Workload
from tests.sim.tuples.plain_workload import PlainWorkload

OWN = Predicate("own:own", lambda r, s: r.key + s.key <= 9)


def rate(workload: Workload, size: int = 4000, streams: tuple[int, int] = (0, 1)) -> float:
    """How many of all pairs of tuples of two streams match."""
    arrivals = workload.slice(0, size)
    r, s = (arrivals[arrivals.stream == stream] for stream in streams)
    columns = SimpleNamespace(**{field: getattr(r, field)[:, None] for field in workload.predicate.fields})
    return float(np.mean(workload.predicate.holds(columns, s)))


def near(match_rate: float):
    """Within four standard deviations of 2000 independent draws: the tuples of a stream are, their pairs are not."""
    return pytest.approx(match_rate, rel=0, abs=4 * sqrt(match_rate * (1 - match_rate) / 2000))


@pytest.mark.parametrize("keys", KEYS)
@pytest.mark.parametrize("order", ARRIVALS)
@given(st.integers(0, 10**15), st.integers(0, 60), st.integers(0, 2**70))
@settings(max_examples=10)
def test_plain_python_gives_the_same_tuples(order, keys, start, size, seed):
    for spec, key_width in (("equi", 10), ("bands:-9..-4,20..31", 14)):
        workload = Workload(
            seed=seed,
            key_width=key_width,
            predicate=parse_predicate(spec),
            match_rate=0.03,
            arrivals=order,
            keys=keys,
            drift=50,
            tuples_per_tick=3,
        )
        plain = PlainWorkload(workload)
        assert list(workload.slice(start, start + size).rows()) == [plain.row(start + n) for n in range(size)]


@pytest.mark.parametrize("order", ARRIVALS)
@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 2**70), st.sampled_from((None, 0, 0.3)))
def test_a_slice_is_the_same_part_of_the_whole(order, start, size, seed, match_rate):
    workload = Workload(
        seed=seed,
        streams=2,
        predicate=parse_predicate("band2:3,4"),
        match_rate=match_rate,
        arrivals=order,
        payload_width=7,
    )
    part, whole = workload.slice(start, start + size), workload.slice(0, start + size)
    assert list(part.rows()) == list(whole[start:].rows())


def test_seeds_differ():
    assert not np.array_equal(Workload(seed=1).slice(0, 9).key, Workload(seed=2).slice(0, 9).key)


@pytest.mark.parametrize("match_rate", [0, 0.002, 0.03, 0.3, 0.5, 0.7, 0.95, 1])
@pytest.mark.parametrize(
    "spec",
    ["equi", "ne", "lt", "le", "gt", "ge", "band:0", "band:7", "bands:-9..-4,20..31", "bands:5..8", "band2:3,50"],
)
def test_match_rate_is_met(spec, match_rate):
    workload = Workload(seed=3, predicate=parse_predicate(spec), match_rate=match_rate)
    assert rate(workload) == near(match_rate)


@pytest.mark.parametrize("keys", ["uniform", "zipf"])
@pytest.mark.parametrize("spec", ["bands:300..400", "bands:-400..-300,256..300", "band2:3,50"])
def test_no_match_at_all_where_keys_are_narrow(spec, keys):
    """Where no two keys can match, too."""
    workload = Workload(key_width=8, predicate=parse_predicate(spec), match_rate=0, keys=keys)
    assert rate(workload) == 0
    assert len(np.unique(workload.slice(0, 1000).key)) > 1


@pytest.mark.parametrize("key_width", [1, 3, 4, 8])
def test_no_match_at_all_where_equal_keys_do_not_match(key_width):
    workload = Workload(key_width=key_width, predicate=parse_predicate("bands:-9..-7,5..8"), match_rate=0)
    assert rate(workload) == 0
    assert workload.slice(0, 1000).key.max() < 2**key_width


def test_ranges_that_keys_cannot_reach_do_not_count():
    workload = Workload(key_width=8, predicate=parse_predicate("bands:-400..-300,1..2"), match_rate=0.2)
    assert rate(workload) == near(0.2)


@pytest.mark.parametrize("match_rate", [0, 0.003, 0.1, 0.9])
@pytest.mark.parametrize("spec", ["equi", "band:7", "band2:3,50"])
@pytest.mark.parametrize("keys", ["zipf", "drifting"])
def test_match_rate_is_met_by_keys_that_are_not_uniform(keys, spec, match_rate):
    workload = Workload(seed=3, predicate=parse_predicate(spec), match_rate=match_rate, keys=keys, drift=10**9)
    tolerance = near(match_rate) if keys == "drifting" else pytest.approx(match_rate, rel=0.25, abs=1e-6)
    assert rate(workload) == tolerance


def test_zipf_keys_fall_off_as_their_rank():
    keys = Workload(keys="zipf", key_width=20).slice(0, 200_000).key
    counts = np.sort(np.unique(keys, return_counts=True)[1])[::-1]
    assert counts[:4] / counts[0] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4], rel=0.1)
    assert len(counts) > 10_000


def test_drifting_keys_give_way_to_others_one_by_one():
    workload = Workload(keys="drifting", match_rate=0.01, drift=1000)
    keys = [set(workload.slice(start, start + 500).key.tolist()) for start in (0, 500, 2000)]
    assert len(keys[0] & keys[1]) > 50
    assert not keys[0] & keys[2]


@pytest.mark.parametrize("match_rate", [0, 0.01, 0.2, 1])
@pytest.mark.parametrize("streams", [(0, 1), (1, 2), (0, 3)])
def test_match_rate_of_many_streams_is_that_of_each_two(match_rate, streams):
    workload = Workload(streams=4, seed=5, match_rate=match_rate)
    assert rate(workload, 8000, streams) == near(match_rate)


@pytest.mark.parametrize("key_width", [1, 2, 8, 63])
@pytest.mark.parametrize("match_rate", [None, 0, 0.5, 1])
def test_keys_fit_their_width(key_width, match_rate):
    workload = Workload(key_width=key_width, match_rate=match_rate)
    key = workload.slice(0, 1000).key
    assert key.min() >= 0
    assert key.max() < 2**key_width
    if match_rate is not None:
        assert rate(workload, 1000) == pytest.approx(match_rate, rel=0.1)


@pytest.mark.parametrize("spec", ["band:40", "bands:-100..-60,3..4", "band2:9,255", "band2:300,0", "lt", "ge"])
def test_keys_fit_a_narrow_width(spec):
    workload = Workload(key_width=8, predicate=parse_predicate(spec), match_rate=1)
    arrivals = workload.slice(0, 1000)
    for column in (arrivals.key, arrivals.key2):
        if column is not None:
            assert column.min() >= 0
            assert column.max() < 256
    assert rate(workload, 1000) == 1


def test_matching_keys_fill_the_band_and_the_key_space():
    keys = Workload(seed=1, predicate=parse_predicate("band:3"), match_rate=0.01).slice(0, 4000).key
    assert len(np.unique(keys % 1024)) > 200
    assert keys.min() < 2**27 < 2**32 - 2**27 < keys.max()


def test_the_rarest_match_uses_every_key():
    assert len(np.unique(Workload(key_width=4, match_rate=1 / 16).slice(0, 1000).key)) == 16


@pytest.mark.parametrize("tuples_per_tick", [1, 5])
def test_time_never_goes_back_and_keeps_its_pace(tuples_per_tick):
    time = Workload(tuples_per_tick=tuples_per_tick).slice(0, 1000).time
    step = np.diff(time)
    assert step.min() == 0
    assert step.max() > 0
    assert abs(time[-1] - 1000 / tuples_per_tick) < 2


def test_order_of_arrivals():
    assert Workload(streams=3).slice(4, 8).stream.tolist() == [1, 2, 0, 1]
    switches = {
        order: np.count_nonzero(np.diff(Workload(arrivals=order).slice(0, 6400).stream))
        for order in ("random", "bursty", "one-sided")
    }
    assert switches["random"] == pytest.approx(3200, rel=0.1)
    assert switches["bursty"] == pytest.approx(100, rel=0.3)
    assert switches["one-sided"] == pytest.approx(750, rel=0.1)
    counts = np.bincount(Workload(streams=4, arrivals="one-sided").slice(0, 16_000).stream)
    assert counts == pytest.approx([15_000, 333, 333, 333], rel=0.2)


def test_segments_of_a_workload_are_made_without_the_whole():
    workload, windows = Workload(arrivals="random", seed=4), Windows((20, 30))
    segment = cut(workload, windows, 10**12, 10**12 + 5)
    assert segment.warm_up == 50
    assert isinstance(segment.arrivals, Arrivals)
    assert segment.numbers[-1] == 10**12 + 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"streams": 1}, "give at least 2"),
        ({"key_width": 64}, "give a key width from 1 to 63"),
        ({"payload_width": 64}, "give a width from 0 to 63"),
        ({"arrivals": "sorted"}, "choose one of alternating, random, bursty, one-sided"),
        ({"keys": "sorted"}, "choose one of uniform, zipf, drifting"),
        ({"keys": "drifting"}, "need a match rate"),
        ({"keys": "drifting", "match_rate": 0.5, "drift": 0}, "at least 1"),
        ({"keys": "drifting", "match_rate": 1 / 256, "key_width": 8}, "no room to drift"),
        ({"keys": "zipf", "match_rate": 1e-6}, "match at rates from"),
        ({"keys": "zipf", "match_rate": 1}, "match at rates from"),
        ({"keys": "zipf", "match_rate": 0.5, "predicate": parse_predicate("lt")}, "equal or near"),
        ({"tuples_per_tick": 0}, "give at least 1"),
        ({"match_rate": 1.5}, "from 0 to 1"),
        ({"match_rate": float("nan")}, "from 0 to 1"),
        ({"match_rate": 0.001, "key_width": 8}, "widen the key"),
        ({"match_rate": 1e-320}, "widen the key"),
        ({"match_rate": 0, "streams": 3, "key_width": 1}, "widen the key"),
        ({"match_rate": 0.5, "predicate": parse_predicate("band:200"), "key_width": 8}, "widen the key"),
        (
            {"match_rate": 1, "predicate": parse_predicate("bands:300..400"), "key_width": 8},
            "no two keys of width 8 match by 'bands:300..400': widen the key",
        ),
        (
            {"match_rate": 0, "predicate": parse_predicate("band:300"), "key_width": 8},
            "needs 2 groups of keys that match within a group alone, and so narrow a key has room for 1: widen the key",
        ),
        (
            {"keys": "zipf", "match_rate": 0.5, "predicate": parse_predicate("band:300"), "key_width": 8},
            "room for one zipf key, which always matches: widen the key",
        ),
        (
            {"keys": "zipf", "match_rate": 0.001, "predicate": parse_predicate("band:3"), "key_width": 8},
            r"37 zipf keys match at rates from 0\.0271 to below 1",
        ),
        ({"match_rate": 0.5, "predicate": parse_predicate("lt"), "key_width": 1}, "at least 2"),
        ({"match_rate": 0.5, "predicate": OWN}, "leave the match rate out"),
        ({"match_rate": 0.5, "predicate": parse_predicate("lt"), "streams": 3}, "only for 'equi'"),
    ],
)
def test_workloads_that_cannot_be(parameters, message):
    with pytest.raises(ValueError, match=message):
        Workload(**parameters)


def test_the_least_rate_of_zipf_keys_that_is_named_can_be_had():
    """Rounding may not make it less than it is."""
    band = {"keys": "zipf", "predicate": parse_predicate("band:3"), "key_width": 8}
    with pytest.raises(ValueError, match=r"\b0\.0271\b"):
        Workload(**band, match_rate=0.02)
    assert Workload(**band, match_rate=0.0271).match_rate == 0.0271
