"""PanJoin against the contract: exact for every structure, predicate, window and batch size."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.join import window_join
from streamjoin.reference.panjoin.bi_sort import BiSort
from streamjoin.reference.panjoin.pan_join import PanJoin
from streamjoin.reference.panjoin.rap_table import RapTable
from streamjoin.reference.panjoin.wib_tree import WibTree
from streamjoin.reference.predicates import Predicate, parse_predicate
from streamjoin.reference.vectorised import window_join_array
from tests import strategies
from tests.reference.panjoin.structures import at_least

EQUI = parse_predicate("equi")
BATCH = st.sampled_from((1, 2, 3, 7, 20, 1000))


@st.composite
def factories(draw, kind):
    """Makers of subwindows of one shape: of one tuple, of some, or of more than ever arrive."""
    room, partitions = draw(st.sampled_from((1, 2, 5, 11, 100))), draw(st.integers(1, 6))
    if kind is BiSort:
        buffer = draw(st.integers(1, 8))
        return lambda: BiSort(room, partitions, buffer)
    if kind is WibTree:
        fan = draw(st.integers(2, 4))
        return lambda: WibTree(room, partitions, fan=fan)
    return lambda: RapTable(room, partitions)


def run(join, arrivals, cuts=()):
    """All results, of arrivals fed in parts."""
    parts = [join.feed(arrivals[a:b]) for a, b in pairwise((0, *sorted(cuts), len(arrivals)))]
    return Counter(map(tuple, np.concatenate([*parts, join.drain()]).tolist()))


@pytest.mark.parametrize("timed", [False, True])
@pytest.mark.parametrize("kind", [BiSort, RapTable, WibTree])
@at_least(150)
@given(data=st.data(), batch=BATCH, predicate=strategies.predicates(two_keys=True))
def test_exact(kind, timed, data, batch, predicate):
    keys = data.draw(st.sampled_from((strategies.KEYS, (0,), (2**32 - 1,), tuple(range(9)))))
    arrivals = data.draw(strategies.arrivals(max_size=60, keys=keys, two_keys=True, timed=timed))
    windows = data.draw(strategies.windows(timed=timed))
    patience = data.draw(st.none() | st.integers(1, 9)) if timed else None
    join = PanJoin(predicate, windows, data.draw(factories(kind)), batch, patience=patience)
    results = run(join, arrivals, data.draw(st.lists(st.integers(0, len(arrivals)), max_size=2)))
    assert results == Counter(window_join(arrivals, predicate, windows))
    assert join.refused == []


@pytest.mark.parametrize("kind", [BiSort, RapTable, WibTree])
@at_least(100)
@given(data=st.data(), batch=BATCH, spans=st.tuples(*[st.integers(1, 25)] * 2), lateness=st.integers(0, 30))
def test_exact_out_of_order(kind, data, batch, spans, lateness):
    """Times within the span of each other, but for what comes later than allowed."""
    arrivals = data.draw(strategies.arrivals(max_size=60, keys=(1, 2, 3)))
    behind = data.draw(st.lists(st.sampled_from((0, 0, 0, 3, 12, 28)), min_size=len(arrivals), max_size=len(arrivals)))
    time = 40 + 2 * np.arange(len(arrivals)) - np.array(behind, np.int64)
    arrivals = Arrivals(arrivals.stream, arrivals.key, time=time)
    late = time < np.maximum.accumulate(time) - lateness if len(time) else np.zeros(0, bool)
    expected = {
        (r, s)
        for r in np.flatnonzero(~late & (arrivals.stream == 0)).tolist()
        for s in np.flatnonzero(~late & (arrivals.stream == 1)).tolist()
        if arrivals.key[r] == arrivals.key[s] and time[s] - time[r] < spans[0] and time[r] - time[s] < spans[1]
    }
    patience = data.draw(st.none() | st.integers(1, 9))
    make = data.draw(factories(kind))
    join = PanJoin(EQUI, Windows((60, 60), spans), make, batch, patience=patience, lateness=lateness)
    assert run(join, arrivals, data.draw(st.lists(st.integers(0, len(arrivals)), max_size=2))) == Counter(expected)
    assert join.refused == np.flatnonzero(late).tolist()


def test_late_tuples_go_to_the_side():
    """What is older than the newest subwindow belongs beside an earlier one, and takes no room in it."""
    join = PanJoin(EQUI, Windows((99, 99), 20), lambda: BiSort(2, 1), lateness=20)
    join.feed(Arrivals([0] * 6, [5] * 6, time=[0, 2, 4, 6, 8, 9]))
    chain = join.streams[0].chain
    assert (len(chain), chain.late) == (3, 0)
    join.feed(Arrivals([0, 0], [5, 5], time=[3, 8]))
    assert (len(chain), chain.late) == (4, 2)
    assert sorted(join.feed(Arrivals([1], [5], time=[22]))[:, 0].tolist()) == [2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("kind", [BiSort, RapTable, WibTree])
@pytest.mark.parametrize("batch", [1000, 4096])
def test_exact_for_many_tuples(kind, batch):
    """Windows of several subwindows that come and go, with keys that drift."""
    rng = np.random.default_rng(3)
    size = 60_000
    arrivals = Arrivals(rng.integers(0, 2, size), rng.integers(0, 20_000, size) + np.arange(size))
    predicate, windows = parse_predicate("band:1"), Windows((7000, 12_000))
    join = PanJoin(predicate, windows, lambda: kind(3000, 32), batch)
    expected = Counter(map(tuple, window_join_array(arrivals, predicate, windows).tolist()))
    assert len(expected) > 20_000
    assert run(join, arrivals, range(0, size, 9999)) == expected
    assert [len(stream.chain) for stream in join.streams] == [-(-7000 // 3000) + 1, -(-12_000 // 3000) + 1]


def test_expiry_waits_for_the_other_stream():
    """Tuples that left their window stay while one that arrived before they left has not been processed."""
    arrivals = Arrivals([1, *[0] * 50, 1], [5] * 52)
    join = PanJoin(EQUI, Windows((2, 2)), lambda: BiSort(4, 1), batch=10)
    assert run(join, arrivals) == Counter(window_join(arrivals, EQUI, Windows((2, 2))))


def test_memory_is_bounded():
    """A hundred windows' worth of tuples need no more than one window's."""
    join = PanJoin(EQUI, Windows((100, 100)), lambda: BiSort(50, 4), batch=10)
    for _ in range(100):
        join.feed(Arrivals(np.arange(200) % 2, np.arange(200)))
    for stream in join.streams:
        assert len(stream.chain) <= 5
        assert stream.log._values.shape[1] < 2000


@pytest.mark.parametrize(
    ("sentence", "given"),
    [
        ("predicate 'own' has no key ranges", {"predicate": Predicate("own", lambda r, s: r.key + s.key <= 9)}),
        ("PanJoin joins two streams, not 3: give two windows", {"windows": Windows((1, 1, 1))}),
        ("a batch of 0 tuples is never full: give at least 1", {"batch": 0}),
        ("a patience of 0 ticks collects nothing: give at least 1, or none at all", {"patience": 0}),
        ("lateness counts ticks from 0 up and needs windows with a span", {"lateness": 3}),
    ],
)
def test_wrong_parameters(sentence, given):
    with pytest.raises(ValueError, match=sentence):
        PanJoin(**{"predicate": EQUI, "windows": Windows((1, 1)), "make": lambda: BiSort(1)} | given)


def test_wrong_arrivals():
    join = PanJoin(EQUI, Windows((9, 9), 5), lambda: BiSort(1))
    with pytest.raises(ValueError, match="need the time of each tuple: add a time column"):
        join.feed(Arrivals([0], [1]))
    join.feed(Arrivals([0], [1], time=[7]))
    with pytest.raises(ValueError, match="goes back: sort them by time, or give a lateness"):
        join.feed(Arrivals([0], [1], time=[6]))
    with pytest.raises(ValueError, match="a tuple of stream 2 has no window"):
        join.feed(Arrivals([2], [1], time=[8]))
    patient = PanJoin(EQUI, Windows((9, 9)), lambda: BiSort(1), patience=4)
    with pytest.raises(ValueError, match="patience needs the time of each tuple"):
        patient.feed(Arrivals([0], [1]))
