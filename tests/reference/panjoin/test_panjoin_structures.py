"""The three structures of a subwindow: the same answers from all, whatever the keys, and in fixed memory."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference import key_bounds
from streamjoin.reference.panjoin import inner_nodes, partition_scan
from streamjoin.reference.panjoin.answers import Records
from streamjoin.reference.panjoin.bi_sort import BiSort
from streamjoin.reference.panjoin.probe import Probe
from streamjoin.reference.panjoin.rap_table import RapTable
from streamjoin.reference.panjoin.wib_tree import WibTree
from streamjoin.reference.predicates import Predicate, parse_predicate
from tests import strategies
from tests.reference.panjoin.structures import at_least, subwindows

KEYS = st.sampled_from(strategies.KEYS) | st.integers(0, 30)
BATCHES = st.lists(st.lists(KEYS, max_size=20), max_size=8)


def fill(subwindow, batches):
    """Insert batches; returns their keys by id."""
    held = []
    for batch in batches:
        subwindow.insert_batch(np.array(sorted(batch), np.int64), len(held) + np.arange(len(batch)))
        held += sorted(batch)
    return np.array(held, np.int64)


def found(subwindow, probes, predicate, probes_are_r):
    answer = subwindow.probe_batch(Probe.of(probes, predicate, probes_are_r))
    pairs = [pair for row, ids in answer.blocks() for pair in zip(row.tolist(), ids.tolist(), strict=True)]
    assert answer.count() == len(pairs)
    return sorted(pairs)


def expected(keys, probes, predicate, probes_are_r):
    tuples = SimpleNamespace(key=probes[:, None]), SimpleNamespace(key=keys[None, :])
    return list(
        zip(*map(np.ndarray.tolist, np.nonzero(predicate.holds(*tuples[:: 1 if probes_are_r else -1]))), strict=True)
    )


@pytest.fixture(params=["as it is", "small blocks"])
def _sizes(request, monkeypatch):
    """Reach with few tuples every branch that the sizes of caches decide between."""
    if request.param != "as it is":
        monkeypatch.setattr(key_bounds, "_BLOCK", 5)
        monkeypatch.setattr(partition_scan, "_BLOCK", 7)
        monkeypatch.setattr(inner_nodes, "_FEW", 0)


@pytest.mark.usefixtures("_sizes")
@pytest.mark.parametrize("kind", [BiSort, RapTable, WibTree])
def test_every_match_once(kind):
    @at_least(100)
    @given(st.data(), BATCHES, st.lists(KEYS, max_size=12), strategies.predicates(), st.booleans())
    def check(data, batches, probes, predicate, probes_are_r):
        size = sum(map(len, batches))
        subwindow = data.draw(subwindows(kind, st.integers(max(1, size), size + 9)))
        keys = fill(subwindow, batches)
        assert len(subwindow) == size
        probes = np.array(sorted(probes), np.int64)
        assert found(subwindow, probes, predicate, probes_are_r) == expected(keys, probes, predicate, probes_are_r)

    check()


@pytest.mark.parametrize("kind", [BiSort, RapTable, WibTree])
@given(data=st.data(), first=BATCHES, second=BATCHES, probes=st.lists(KEYS, max_size=12))
def test_a_subwindow_that_expired_is_like_new(kind, data, first, second, probes):
    """And the one that follows it knows at most where to expect keys."""
    room = max(1, *(sum(map(len, batches)) for batches in (first, second)))
    subwindow = data.draw(subwindows(kind, st.just(room)))
    before = copy.deepcopy(subwindow)
    fill(before, first)
    fill(subwindow, first)
    subwindow.expire()
    assert len(subwindow) == 0
    subwindow.follow(before)
    keys = fill(subwindow, second)
    probes, predicate = np.array(sorted(probes), np.int64), parse_predicate("band:2")
    assert found(subwindow, probes, predicate, True) == expected(keys, probes, predicate, True)


@pytest.mark.parametrize("kind", [BiSort, RapTable, WibTree])
def test_one_tuple_at_a_time(kind):
    subwindow = kind(300, 8)
    keys = np.array([7, 0, 2**32 - 1, 7, 3, 3] * 50)
    for number, key in enumerate(keys.tolist()):
        subwindow.insert(key, number)
    probes = np.array([0, 3, 7, 8])
    equi = parse_predicate("equi")
    assert found(subwindow, probes, equi, True) == expected(keys, probes, equi, True)
    with pytest.raises(ValueError, match=r"300 \+ 1 tuples are too many for a subwindow of 300: begin a new one"):
        subwindow.insert(1, 1)
    assert len(subwindow) == 300


@pytest.mark.parametrize("kind", [BiSort, RapTable, WibTree])
@pytest.mark.parametrize(
    "keys", [np.zeros(20_000), np.arange(20_000), np.arange(20_000) ** 2, np.repeat(np.arange(20), 1000)]
)
def test_extreme_keys(kind, keys):
    """All equal, growing, skewed, a few heavy ones: 16 batches of each."""
    keys = keys.astype(np.int64)
    subwindow = kind(len(keys), 64)
    ids = np.arange(len(keys))
    for part in np.array_split(ids, 16):
        subwindow.insert_batch(keys[part], part)
    probes = keys[::1999]
    answer = subwindow.probe_batch(Probe.of(probes, parse_predicate("band:1"), True))
    low, high = np.searchsorted(keys, probes - 1), np.searchsorted(keys, probes + 1, side="right")
    assert answer.count() == (high - low).sum()
    for row, tuples in answer.blocks():
        assert (np.abs(keys[tuples] - probes[row]) <= 1).all()


def test_records_are_two_places_a_band():
    subwindow = BiSort(100, 4, buffer=2)
    subwindow.insert_batch(np.array([1, 3, 3, 5]), np.array([40, 41, 42, 43]))
    probe = Probe.of(np.array([2, 3]), parse_predicate("bands:-1..-1,1..2"), True)
    (records,) = subwindow.probe_batch(probe).parts
    assert isinstance(records, Records)
    # r - s in -1..-1 asks for s = r + 1, and 1..2 for s in r - 2..r - 1.
    assert (records.start.tolist(), records.end.tolist()) == ([[1, 3], [0, 0]], [[3, 3], [1, 1]])
    (differing,) = subwindow.probe_batch(Probe.of(np.array([3]), parse_predicate("ne"), True)).parts
    assert differing.negated
    assert (differing.start.tolist(), differing.end.tolist()) == ([[1]], [[3]])
    assert [pair.tolist() for block in differing.blocks() for pair in block] == [[0], [40], [0], [43]]


def test_small_batches_wait_in_the_buffer():
    subwindow = BiSort(100, 4, buffer=8)
    for _ in range(4):
        subwindow.insert_batch(np.arange(3), np.arange(3))
    assert (len(subwindow.keys), len(subwindow.buffer)) == (6, 6)
    subwindow.insert_batch(np.arange(9), np.arange(9))
    assert (len(subwindow.keys), len(subwindow.buffer)) == (15, 6)
    assert subwindow.index.tolist() == subwindow.keys[::4].tolist()


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ([3, 2], "the keys of a batch go back: sort it by key"),
        ([-1, 2], r"a batch has keys from -1 to 2: give keys from 0 to 2\*\*63 - 2"),
        ([0, 2**63 - 1], r"a batch has keys from 0 to 9223372036854775807: give keys from 0 to 2\*\*63 - 2"),
    ],
)
def test_wrong_batches(keys, sentence):
    subwindow = BiSort(10)
    with pytest.raises(ValueError, match=sentence):
        subwindow.insert_batch(np.array(keys), np.arange(2))
    assert len(subwindow) == 0


@pytest.mark.parametrize("kind", [BiSort, RapTable, WibTree])
def test_keys_at_the_ends_of_63_bits(kind):
    subwindow = kind(6, 3)
    last = 2**63 - 2
    keys = fill(subwindow, [[0, 1, 5, last - 1, last, last]])
    for spec in ("equi", "ne", "lt", "ge", "band:1", f"band:{2**70}", f"bands:{-last}..-5,{last}..{last}"):
        predicate, probes = parse_predicate(spec), np.array([0, last - 1, last])
        for probes_are_r in (True, False):
            assert found(subwindow, probes, predicate, probes_are_r) == expected(keys, probes, predicate, probes_are_r)


def test_a_predicate_without_ranges_is_refused():
    with pytest.raises(ValueError, match="predicate 'own' has no key ranges to search for: compare "):
        Probe.of(np.arange(3), Predicate("own", lambda r, s: r.key + s.key <= 9), True)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: BiSort(0), "a subwindow of 0 tuples holds nothing: give it room for at least 1"),
        (lambda: BiSort(8, 0), "0 partitions hold nothing: give at least 1"),
        (lambda: BiSort(8, 1, 0), "a buffer of 0 tuples takes nothing: give it room for at least 1"),
        (lambda: RapTable(8, 0), "0 partitions hold nothing: give at least 1"),
        (lambda: RapTable(8, 2, sigma=0.9), "sigma is 0.9: give at least 1, so that all tuples find room"),
        (lambda: WibTree(8, 2, fan=1), "inner nodes of 1 child make no tree: give at least 2"),
    ],
)
def test_wrong_sizes(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()
