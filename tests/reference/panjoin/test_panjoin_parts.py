"""The parts of the structures: searching, splitters, the table of linked lists, inner nodes, batches, advice."""

from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference.panjoin.advice import advise
from streamjoin.reference.panjoin.bi_sort import BiSort
from streamjoin.reference.panjoin.collecting import Collector
from streamjoin.reference.panjoin.inner_nodes import InnerNodes
from streamjoin.reference.panjoin.llat import Llat
from streamjoin.reference.panjoin.rap_table import RapTable
from streamjoin.reference.panjoin.searching import rebounding_search, rebounding_search_batch, search_within
from streamjoin.reference.panjoin.splitters import Histograms, adjusted, even_splitters, imbalance
from streamjoin.reference.panjoin.wib_tree import WibTree, cuts

ASCENDING = st.lists(st.integers(0, 60), max_size=40).map(sorted)


@given(ASCENDING, ASCENDING)
def test_rebounding_search_finds_what_searchsorted_finds(values, targets):
    places, _ = rebounding_search_batch(values, targets)
    assert places == np.searchsorted(values, targets).tolist()


def test_rebounding_search_costs_by_distance():
    values = list(range(1 << 16))
    for distance in (0, 1, 2, 5, 100, 5000):
        place, comparisons = rebounding_search(values, 20_000 + distance, 20_000)
        assert place == 20_000 + distance
        assert comparisons <= 2 * log2(distance + 1) + 2
    # A crowd on its way through the array costs less than a binary search each.
    _, together = rebounding_search_batch(values, range(0, 1 << 16, 8))
    assert together < (1 << 13) * 16 / 2


@given(ASCENDING.filter(bool), st.integers(1, 50), st.lists(st.integers(-1, 61)))
def test_search_within_a_stretch(values, width, targets):
    values, targets = np.array(values), np.array(targets, np.int64)
    places = np.searchsorted(values, targets)
    for back in (0, width // 2, width):
        assert (search_within(values, np.maximum(places - back, 0), width, targets) == places).all()


def histograms(keys, splitters):
    seen = Histograms(len(splitters) + 1)
    keys = np.sort(keys)
    seen.add(np.searchsorted(splitters, keys, side="left"), keys)
    return seen


def test_one_adjustment_by_hand():
    """The example of the paper's figure 3: 16 tuples, of which the third partition holds the sixth to tenth."""
    seen = Histograms(4)
    seen.count[:] = 2, 3, 5, 6
    seen.least[:] = 0, 100, 200, 300
    seen.most[:] = 50, 150, 250, 360
    # Wanted are 4, 8 and 12: two of three in the second, three of five in the third, two of six in the last.
    assert adjusted(np.array([50, 150, 250]), seen).tolist() == [100 + 33, 200 + 30, 300 + 20]


def test_without_tuples_splitters_stay():
    splitters = even_splitters(8, 32)
    assert (adjusted(splitters, Histograms(8)) == splitters).all()


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1), st.integers(1, 20))
def test_splitters_ascend_within_the_keys(keys, partitions):
    splitters = even_splitters(partitions, 32)
    for _ in range(3):
        splitters = adjusted(splitters, histograms(keys, splitters))
        assert (np.diff(splitters) >= 0).all()
        assert all(min(keys) <= splitter <= max(keys) for splitter in splitters)


@pytest.mark.parametrize(("partitions", "most"), [(4, 16), (64, 6), (1024, 4), (65536, 2)])
def test_the_worst_case_needs_few_adjustments(partitions, most):
    """Keys 2**32 / P**k: each adjustment sets but one of them apart (figure 4); 65536 partitions need two."""
    assert most == ceil(32 / log2(partitions))
    keys = [0, *(partitions**power for power in range(most)), 2**32 - 1]
    splitters = even_splitters(partitions, 32)
    for _ in range(most):
        splitters = adjusted(splitters, histograms(keys, splitters))
    held = histograms(keys, splitters).count
    assert held.max() <= max(2, ceil(len(keys) / partitions))


def test_uneven_keys_become_even():
    rng = np.random.default_rng(5)
    splitters = even_splitters(64, 32)
    course = []
    for _ in range(5):
        seen = histograms((2**31 + 2**20 * rng.standard_normal(100_000)).astype(np.int64), splitters)
        course.append(imbalance(seen.count))
        splitters = adjusted(splitters, seen)
    assert course[0] > 1.5
    assert max(course[3:]) < 0.06


@given(st.integers(1, 80), st.integers(1, 9), st.sampled_from((1, 1.1, 1.25, 2.5)), st.data())
def test_a_table_of_lists_never_overflows(room, partitions, sigma, data):
    """Whatever the skew, and lists give back what they held in their order."""
    llat = Llat(room, partitions, sigma, lists=partitions)
    held = [[] for _ in range(partitions)]
    left = room
    while left and data.draw(st.booleans()):
        lists = sorted(data.draw(st.lists(st.integers(0, partitions - 1), min_size=1, max_size=left)))
        ids = np.arange(room - left, room - left + len(lists))
        llat.append(np.array(lists, np.int64), 7 + ids, ids)
        for number, each in zip(lists, ids.tolist(), strict=True):
            held[number].append(each)
        left -= len(lists)
    assert llat.claimed <= 2 * partitions
    assert llat.count[:partitions].tolist() == list(map(len, held))
    for number in range(partitions):
        keys, ids = llat.clear(np.array([number]))
        assert ids.tolist() == held[number]
        assert (keys == 7 + ids).all()
    assert (llat.keys == -1).all()


def test_a_table_that_would_overflow_is_told():
    llat = Llat(8, 2, 1, lists=2)
    with pytest.raises(AssertionError, match="entries are needed where 4 always do"):
        llat.append(np.zeros(16, np.int64), np.arange(16), np.arange(16))


def test_one_partition_takes_all():
    llat = Llat(1000, 10, 1.25, lists=10)
    for first in range(0, 1000, 50):
        llat.append(np.full(50, 3), np.arange(50), np.arange(first, first + 50))
    assert llat.claimed == 10 + 1000 // 125
    _, entries = llat.walk(np.array([3]))
    assert llat.head[entries].tolist() == [125] * 8 + [0]


@given(st.lists(st.integers(0, 200), unique=True), st.integers(2, 5))
def test_inner_nodes_find_the_leaf(bounds, fan):
    """Splitting anywhere, in any order; leaves are found one by one and all at once."""
    nodes = InnerNodes(0, fan)
    for leaf, bound in enumerate(bounds, start=1):
        nodes.split(bound, leaf)
    keys = np.arange(202)
    one_by_one = nodes.find(keys[:60])
    ordered, leaves = nodes.in_a_row()
    assert ordered.tolist() == sorted(bounds)
    assert sorted(leaves.tolist()) == list(range(len(bounds) + 1))
    found = nodes.find(keys)
    assert (found[:60] == one_by_one).all()
    assert (found == leaves[np.searchsorted(sorted(bounds), keys)]).all()


@given(ASCENDING, st.integers(1, 6), st.data())
def test_cuts_leave_parts_large_enough(keys, least, data):
    keys = np.array(keys, np.int64)
    border = data.draw(st.integers(0, len(keys)))
    place = cuts(keys, np.array([0, border]), np.array([border, len(keys)]), least)
    assert (keys[place - 1] < keys[place]).all()
    for begin, end in ((0, border), (border, len(keys))):
        inside = np.sort(place[(begin < place) & (place < end)])
        if len(inside):
            assert (np.diff([begin, *inside, end]) >= least).all()
        elif 2 * least <= end - begin < 3 * least:
            # Two parts, and nothing wrong with the middle but that a key lies across it.
            middle = begin + (end - begin) // 2
            assert keys[middle - 1] == keys[middle]


def test_leaves_hold_their_share():
    """Also beside a heavy key, where each new tuple could be split off."""
    tree = WibTree(4000, 40, fan=4)
    tree.insert_batch(np.full(2000, 10**6), np.arange(2000))
    for key in range(999):
        tree.insert(10**6 - 1 - key, key)
    _, leaves = tree.nodes.in_a_row()
    counts = tree.llat.count[leaves]
    assert counts.sum() == 2999
    assert counts.min() >= tree.least
    assert sorted(counts.tolist())[-2] <= 2 * tree.least
    assert 2000 <= counts.max() < 2600
    assert tree.nodes.height > 1


def test_leaves_split_in_half_would_overflow():
    """The paper's rule, as a model: a leaf of more than a share is split where keys differ, as near to half as can be.

    Keys that grow towards a heavy one all fall into its leaf, and each of them is split off again.
    """
    room, partitions = 4000, 40
    width = room // partitions
    keys = [10**6] * width + list(range(1000))
    leaves = [[]]
    for key in keys:
        at = next((n for n, leaf in enumerate(leaves) if leaf and key <= leaf[-1]), len(leaves) - 1)
        leaf = sorted([*leaves[at], key])
        places = [n for n in range(1, len(leaf)) if leaf[n - 1] != leaf[n]]
        if len(leaf) > width and places:
            cut = min(places, key=lambda n: abs(n - len(leaf) / 2))
            leaves[at : at + 1] = [leaf[:cut], leaf[cut:]]
        else:
            leaves[at] = leaf
    assert len(leaves) > 10 * 2 * partitions

    tree = WibTree(room, partitions)
    for number, key in enumerate(keys):
        tree.insert(key, number)
    assert tree.llat.claimed <= 2 * partitions


def batches(collector, stream, clock):
    return list(collector.batches(np.array(stream, np.int64), np.array(clock, np.int64)))


def test_batches_by_count_and_by_time():
    assert batches(Collector(2), [0, 1, 0, 0, 1, 0], [0] * 6) == [(0, 2), (1, 2), (0, 2)]
    patient = Collector(9, patience=5)
    # The arrival at time 5 ends the batch that began at 0 and is not in it.
    assert batches(patient, [0, 0, 1, 0], [0, 4, 4, 5]) == [(0, 2)]
    assert batches(patient, [1], [20]) == [(0, 1), (1, 1)]
    assert list(patient.rest()) == [(0, 0), (1, 1)]


def test_advice():
    base = {"subwindow": 2**23, "batch": 1024, "matches": 1, "keys_drift": False}
    assert advise(**base).structure is RapTable
    assert advise(**base | {"keys_drift": True}).structure is WibTree
    assert advise(**base | {"batch": 2**16}).structure is BiSort
    many = advise(**base | {"matches": 5000, "keys_drift": True})
    assert many.structure is BiSort
    assert many.because == "5000 matches a probe are two places in BI-Sort and so many copies elsewhere"
