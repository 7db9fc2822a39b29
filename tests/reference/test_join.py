"""The plain join on cases small enough to check by hand, and the vectorised one against it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference import key_bounds, vectorised
from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.join import count_overflows, window_join
from streamjoin.reference.predicates import Predicate, parse_predicate
from streamjoin.reference.vectorised import window_join_array
from tests.strategies import SPECS, arrivals, own_predicates, predicates, windows, written

EQUI = parse_predicate("equi")
OWN = Predicate("own", lambda r, s: (r.key + 2 != s.key) & (s.key < 8))
OPAQUE = Predicate("opaque", lambda r, s: (r.key + s.key <= 1 << 31) & (s.key != 1))
OWN_ONES = st.sampled_from((OWN, OPAQUE))
ONE_SIDED = (
    "r.key < 5",
    "s.key >= 25",
    "(r.key < 3) & (r.key != 1) | (r.key + r.key > 55)",
    "(r.key > 15) & (s.key < 12)",
    "s.key != s.key",
    "True",
)


def test_a_pair_is_found_by_its_later_tuple():
    assert window_join(Arrivals([0, 1], [5, 5]), EQUI, Windows((1, 1))) == [(0, 1)]
    assert window_join(Arrivals([1, 0], [5, 5]), EQUI, Windows((1, 1))) == [(1, 0)]


def test_windows_count_the_tuples_of_their_own_stream():
    arrivals = Arrivals([0, 0, 0, 1, 1, 1, 0], [5] * 7)
    assert window_join(arrivals, EQUI, Windows((2, 1))) == [(1, 3), (2, 3), (1, 4), (2, 4), (1, 5), (2, 5), (6, 5)]


def test_a_tuple_is_seen_while_it_is_less_than_the_span_older():
    arrivals = Arrivals([0, 0, 1, 1], [5] * 4, time=[0, 1, 3, 4])
    assert window_join(arrivals, EQUI, Windows((9, 9), 3)) == [(1, 2)]


def test_a_tuple_stays_as_long_as_its_own_stream_says():
    arrivals = Arrivals([0, 0, 1, 1, 0], [1, 2, 1, 2, 2], time=[0, 1, 2, 5, 9])
    for span_r, span_s, results in ((3, 5, [(0, 2), (4, 3)]), (5, 4, [(0, 2), (1, 3)]), (2, 4, [])):
        assert window_join(arrivals, EQUI, Windows((4, 4), (span_r, span_s))) == results
    assert count_overflows(arrivals, Windows((1, 1), (2, 4))) == 2
    assert count_overflows(arrivals, Windows((1, 1), (1, 3))) == 0


def test_a_span_needs_room():
    arrivals = Arrivals([0, 0, 1], [5] * 3, time=[0, 1, 2])
    assert window_join(arrivals, EQUI, Windows((1, 1), 9)) == [(1, 2)]
    assert count_overflows(arrivals, Windows((1, 1), 9)) == 1
    assert count_overflows(arrivals, Windows((1, 1), 1)) == 0
    assert count_overflows(arrivals, Windows((2, 1), 9)) == 0
    assert count_overflows(arrivals, Windows((1, 1))) == 0


def test_three_streams_compare_each_with_the_next():
    arrivals = Arrivals([0, 2, 1, 0], [1, 3, 2, 2])
    assert window_join(arrivals, parse_predicate("lt"), Windows((2, 2, 2))) == [(0, 2, 1)]
    assert window_join(arrivals, parse_predicate("le"), Windows((1, 1, 1))) == [(0, 2, 1), (3, 2, 1)]


def test_no_arrivals_no_results():
    nothing = Arrivals([], [])
    assert window_join(nothing, EQUI, Windows((2, 2, 2))) == []
    assert window_join_array(nothing, EQUI, Windows((2, 2, 2))).shape == (0, 3)


def assert_same(tuples, predicate, wins):
    expected = window_join(tuples, predicate, wins)
    assert len(set(expected)) == len(expected)
    got = window_join_array(tuples, predicate, wins)
    assert got.dtype == np.int64
    assert got.shape == (len(expected), wins.streams)
    assert sorted(map(tuple, got.tolist())) == sorted(expected)


@pytest.fixture(params=["as it is", "small chunks", "always sorted"])
def _sizes(request, monkeypatch):
    """Reach with small inputs every branch that the sizes of caches decide between."""
    if request.param != "as it is":
        monkeypatch.setattr(vectorised, "_CHUNK", 3)
        monkeypatch.setattr(vectorised, "_BLOCK", 1)
        monkeypatch.setattr(key_bounds, "_BLOCK", 16)
    if request.param == "always sorted":
        monkeypatch.setattr(vectorised, "_NARROW", 0)
        monkeypatch.setattr(vectorised, "_SAFE", 0)


@pytest.mark.usefixtures("_sizes")
@pytest.mark.parametrize("timed", [False, True])
def test_vectorised_equals_plain(timed):
    @given(
        arrivals(two_keys=True, timed=timed),
        predicates(two_keys=True) | OWN_ONES | own_predicates(("key", "key2")),
        windows(timed=timed),
    )
    def check(tuples, predicate, wins):
        assert_same(tuples, predicate, wins)

    check()


@pytest.mark.usefixtures("_sizes")
@pytest.mark.parametrize("streams", [3, 4])
def test_vectorised_equals_plain_for_more_streams(streams):
    @given(
        arrivals(streams, max_size=24, timed=True),
        predicates() | OWN_ONES | own_predicates(),
        windows(streams, max_room=5, timed=True) | windows(streams, max_room=3),
    )
    def check(tuples, predicate, wins):
        assert_same(tuples, predicate, wins)

    check()


@pytest.mark.parametrize("spec", SPECS)
def test_vectorised_equals_plain_where_chunks_meet(spec):
    rng = np.random.default_rng(7)
    tuples = Arrivals(rng.integers(0, 2, 9000), rng.integers(0, 3000, 9000))
    wins = Windows((20, 33))
    assert_same(tuples, parse_predicate(spec), wins)


@pytest.mark.parametrize("wins", [Windows((3, 4)), Windows((9, 9), 5), Windows((2, 1, 2))], ids=str)
@pytest.mark.parametrize("text", ONE_SIDED)
def test_one_side_decides_among_more_tuples_than_a_chunk_takes(text, wins):
    """Whole blocks with all windows full, where a side that is not looked at counts all the same."""
    rng = np.random.default_rng(11)
    count = 5000 * wins.streams
    tuples = Arrivals(np.arange(count) % wins.streams, rng.integers(0, 30, count), time=np.arange(count))
    assert_same(tuples, Predicate("own:own", written(text)), wins)


def test_a_rare_stream_among_many_tuples():
    tuples = Arrivals(np.arange(20000) % 5000 != 9, np.arange(20000) % 7)
    assert_same(tuples, EQUI, Windows((3, 40)))


def test_keys_and_bands_at_the_ends_of_63_bits():
    last = 2**63 - 1
    tuples = Arrivals([0, 1] * 30, [0, last, last, last, last - 1, 0] * 10)
    for spec in ("equi", "ne", "lt", "ge", "band:1", f"band:{2**70}", f"bands:{-last}..-5,{last}..{last}"):
        assert_same(tuples, parse_predicate(spec), Windows((30, 30)))
    for text in (f"r.key + s.key == {2 * last - 1}", f"r.key + r.key - s.key > {last}", f"r.key + 1 > {last}"):
        assert_same(tuples, Predicate("own:own", written(text)), Windows((30, 30)))


@pytest.mark.parametrize("spec", ["equi", "band:3", "bands:-4..-2,1..1", f"bands:{2**60}..{2**60 + 2}"])
def test_keys_that_leave_no_bits_for_arrival_numbers(spec):
    rng = np.random.default_rng(3)
    tuples = Arrivals(rng.integers(0, 2, 400), rng.integers(0, 9, 400) + rng.integers(0, 2, 400) * 2**60)
    assert_same(tuples, parse_predicate(spec), Windows((30, 11)))
