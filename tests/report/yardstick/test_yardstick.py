"""The joins in C++ are exact, each of them, for whatever they say they can join."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.join import window_join
from streamjoin.reference.predicates import parse_predicate
from streamjoin.reference.vectorised import window_join_array
from streamjoin.report.yardstick import compiled
from streamjoin.report.yardstick.cpp_expression import cpp_expression
from streamjoin.report.yardstick.one_core import kernels_for, one_cpu_core, result_array
from streamjoin.report.yardstick.processor import processor_name
from streamjoin.sim.tuples.workload import Workload

EQUI = parse_predicate("equi")
PREDICATES = ("equi", "band:3", "bands:-9..-7", "ne", "lt", "le", "gt", "ge", "bands:-2..-1,4..6", "band2:2,1")
PREDICATES += ("r.key + s.key <= 9", "(r.key < 4) | (s.key + s.key == r.key2)", "r.key - s.key < 100000000000000000000")


def drawn(
    seed: int, tuples: int, streams: int, key_width: int, keys: int, *, near_top: bool = False, skew: float = 0.5
):
    """Arrivals with few keys, at the lower or the upper end of all keys; ``skew`` is the first stream's share."""
    draw = np.random.default_rng(seed)
    low = (1 << min(key_width, 63)) - keys if near_top else 0
    others = 1 + draw.integers(0, streams - 1, tuples)
    return Arrivals(
        stream=np.where(draw.random(tuples) < skew, 0, others),
        key=low + draw.integers(0, keys, tuples),
        key2=draw.integers(0, 5, tuples),
    )


def ordered(results: np.ndarray) -> np.ndarray:
    return results[np.lexsort(results.T)]


def hold(predicate, rooms, arrivals, key_width=None, kernels=None) -> None:
    """Each program that can join these gives what the reference gives."""
    expected = ordered(window_join_array(arrivals, predicate, Windows(rooms)))
    for kernel in kernels or kernels_for(predicate, rooms, arrivals):
        found = ordered(result_array(kernel, predicate, rooms, arrivals, key_width))
        assert np.array_equal(found, expected), kernel


@given(
    seed=st.integers(0, 2**32 - 1),
    rooms=st.tuples(*(st.sampled_from([1, 2, 3, 8, 40, 300]),) * 2),
    tuples=st.sampled_from([0, 1, 2, 20, 200, 700]),
    keys=st.sampled_from([1, 3, 20, 200, 5000]),
    near_top=st.booleans(),
    skew=st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
    spec=st.sampled_from(PREDICATES),
    key_width=st.sampled_from([32, 64]),
)
def test_two_streams_are_exact(seed, rooms, tuples, keys, near_top, skew, spec, key_width):
    arrivals = drawn(seed, tuples, 2, key_width, keys, near_top=near_top, skew=skew)
    hold(parse_predicate(spec), rooms, arrivals, key_width)


@given(
    seed=st.integers(0, 2**32 - 1),
    streams=st.sampled_from([3, 5, 8]),
    draw=st.data(),
    tuples=st.sampled_from([0, 3, 50, 300]),
    keys=st.sampled_from([2, 20, 200]),
    key_width=st.sampled_from([32, 64]),
)
def test_more_streams_are_exact(seed, streams, draw, tuples, keys, key_width):
    most = 3 if keys < 20 else 40
    rooms = draw.draw(st.tuples(*(st.integers(1, most),) * streams))
    hold(EQUI, rooms, drawn(seed, tuples, streams, key_width, keys, skew=1 / streams), key_width)


@pytest.mark.parametrize("key_width", [32, 64])
@pytest.mark.parametrize("rooms", [(1, 1), (5, 100), (700, 20)])
@pytest.mark.parametrize("spec", ["equi", "band:0", "band:1000"])
def test_keys_at_both_ends_never_meet(spec, rooms, key_width):
    """What is counted round and round is the arithmetic of keys, not keys."""
    top = (1 << min(key_width, 63)) - 1
    draw = np.random.default_rng(1)
    key = draw.choice([0, 1, 999, 1000, top - 1000, top - 999, top - 1, top], 3000)
    arrivals = Arrivals(stream=draw.integers(0, 2, 3000), key=key)
    hold(parse_predicate(spec), rooms, arrivals, key_width)


@pytest.mark.parametrize("streams", [2, 3])
def test_all_keys_are_equal(streams):
    """All tuples crowd into one bucket: most of them are in its chain."""
    rooms = (40, 25, 33)[:streams]
    arrivals = drawn(3, 600, streams, 32, 1, skew=1 / streams)
    hold(EQUI, rooms, arrivals)


@pytest.mark.parametrize("spec", ["equi", "band:7"])
@pytest.mark.parametrize("rooms", [(1, 1), (1000, 3), (1000, 1000), (4000, 900)])
def test_positions_come_round(spec, rooms):
    """Lanes count positions in some of their bits: dead tuples must never look young again, however long they lie."""
    predicate = parse_predicate(spec)
    often = Workload(predicate=predicate, match_rate=1e-3, arrivals="one-sided", seed=2).slice(0, 150_000)
    hold(predicate, rooms, often, kernels=["hash" if predicate.is_equi else "band"])
    keys = np.where(np.arange(150_000) % 40_000 < 50, often.key, 1 << 30)  # seen again when all has come round
    rare = Arrivals(often.stream, np.where(keys == 1 << 30, (1 << 30) + 100 * np.arange(150_000), keys % 64))
    hold(predicate, rooms, rare, kernels=["hash" if predicate.is_equi else "band"])


@pytest.mark.parametrize("spec", ["equi", "band:3", "bands:10..200", "bands:-2000..-1000"])
def test_windows_that_fill_many_buckets(spec):
    predicate = parse_predicate(spec)
    arrivals = Workload(predicate=predicate, match_rate=1e-4, arrivals="random", seed=5).slice(0, 60_000)
    hold(predicate, (10_000, 3000), arrivals)


def test_five_streams_with_long_windows():
    arrivals = Workload(streams=5, match_rate=2e-4, arrivals="random", seed=5).slice(0, 60_000)
    hold(EQUI, (3000, 1000, 2000, 3000, 2500), arrivals)


def test_without_vector_instructions_it_is_as_exact(monkeypatch):
    """Processors differ; the lines that are for all of them are run here, too."""
    monkeypatch.setattr(compiled, "_FLAGS", [flag for flag in compiled._FLAGS if flag != "-march=native"])
    compiled._library.cache_clear()
    try:
        for spec in ("equi", "band:3", "ne", "r.key + s.key <= 9"):
            for key_width in (32, 64):
                hold(parse_predicate(spec), (50, 700), drawn(9, 2000, 2, key_width, 100), key_width)
    finally:
        compiled._library.cache_clear()


def test_the_plain_reference_agrees():
    arrivals = drawn(11, 80, 2, 32, 6)
    for spec in PREDICATES:
        predicate = parse_predicate(spec)
        expected = sorted(window_join(arrivals, predicate, Windows((7, 12))))
        for kernel in kernels_for(predicate, (7, 12), arrivals):
            assert sorted(map(tuple, result_array(kernel, predicate, (7, 12), arrivals))) == expected


@pytest.mark.parametrize("key_width", [8, 32, 63])
def test_a_predicate_is_an_expression_in_cpp(key_width):
    assert (
        cpp_expression(EQUI.expression, key_width)
        == "int64_t(1) * int64_t(r.key) + int64_t(-1) * int64_t(s.key) == int64_t(0LL)"
    )


def test_sums_that_leave_64_bits_are_computed_in_128():
    expression = parse_predicate("r.key + s.key <= 5").expression
    assert "int64_t" in cpp_expression(expression, 32)
    assert "__int128" in cpp_expression(expression, 63)
    top = (1 << 63) - 1
    arrivals = Arrivals(stream=[0, 1, 0, 1], key=[top, top, 1, 2])
    for spec in (f"r.key + s.key == {2 * top}", f"r.key + s.key > {top + 1}", f"r.key + r.key - s.key < {top + 5}"):
        hold(parse_predicate(spec), (4, 4), arrivals)


def test_the_figures_of_one_core():
    arrivals = Workload(match_rate=0.2 / 64).slice(0, 20_000)
    figures = one_cpu_core(EQUI, (64, 64), arrivals, repeats=2)
    assert figures.results == len(window_join_array(arrivals, EQUI, Windows((64, 64))))
    assert figures.tuples_per_second > 1e5
    assert figures.kernel in ("hash", "scan")
    assert figures.processor == processor_name() != ""
    assert str(figures).startswith("one CPU core (")


@pytest.mark.parametrize(
    ("predicate", "windows", "streams", "says"),
    [
        ("band:3", (4, 4, 4), 3, "3 streams by equal keys only"),
        ("equi", Windows((4, 4), 9), 2, "no windows with a span"),
        ("equi", (1 << 26, 4), 2, "windows of 33554432"),
        ("band2:1,1", (4, 4), 2, "have none"),
    ],
)
def test_what_it_cannot_join_it_says(predicate, windows, streams, says):
    arrivals = Arrivals(stream=np.arange(20) % streams, key=np.arange(20))
    with pytest.raises(ValueError, match=says):
        one_cpu_core(parse_predicate(predicate), windows, arrivals)


def test_it_says_that_nothing_is_left_to_time():
    with pytest.raises(ValueError, match="leave none to time"):
        one_cpu_core(EQUI, (4, 4), Arrivals([], []))


def test_a_processor_has_a_name(tmp_path):
    file = tmp_path / "cpuinfo"
    file.write_text("processor\t: 0\nmodel name\t: Sums  and Carries 9\n")
    assert processor_name(file) == "Sums and Carries 9"
    assert processor_name(tmp_path / "none")
