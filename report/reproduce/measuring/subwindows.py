"""Subwindows measured side by side: what the paper's structures do in NumPy, and what stands beside them.

All take turns, so that whatever else the machine does meets all of them; of several turns the fastest counts. Seconds
are those of the processor: nothing waits for anything, and what other programs take does not count.
"""

import time
from collections.abc import Callable
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator
from sortedcontainers import SortedList

from streamjoin.reference.errors import DesignError
from streamjoin.reference.panjoin.bi_sort import BiSort
from streamjoin.reference.panjoin.probe import Probe
from streamjoin.reference.panjoin.rap_table import RapTable
from streamjoin.reference.panjoin.subwindow import Subwindow
from streamjoin.reference.panjoin.wib_tree import WibTree
from streamjoin.report import style
from streamjoin.report.reproduce.framework.entry import Table
from streamjoin.report.style import Look

KEY_WIDTH, ID_WIDTH = 32, 24
RAP_TABLE, WIB_TREE, BI_SORT = "RaP-Table", "WiB+-Tree", "BI-Sort"
SORTED_ARRAY, SORTED_LIST = "sorted array", "sortedcontainers"


class SortedArray:
    """The plain thing: two arrays in order, `numpy.insert` and `numpy.searchsorted`."""

    def refill(self, keys: np.ndarray) -> None:
        self.keys, self.ids = keys, np.arange(len(keys))

    def insert_batch(self, keys: np.ndarray, ids: np.ndarray) -> None:
        places = np.searchsorted(self.keys, keys, side="right")
        self.keys, self.ids = np.insert(self.keys, places, keys), np.insert(self.ids, places, ids)

    def count(self, probe: Probe) -> int:
        (low,), (high,) = probe.low, probe.high
        start, end = np.searchsorted(self.keys, low, side="left"), np.searchsorted(self.keys, high, side="right")
        return int((end - start).sum())


class SortedContainer:
    """Off the shelf: a list of plain integers that stays in order, the key above the id."""

    def __init__(self):
        self.tuples = SortedList()

    def refill(self, keys: np.ndarray) -> None:
        """Nothing, if it holds as much already: filling it takes seconds, and a few batches more do not matter."""
        if len(self.tuples) < len(keys):
            self.tuples.clear()
            self.insert_batch(keys, np.arange(len(keys)))

    def insert_batch(self, keys: np.ndarray, ids: np.ndarray) -> None:
        self.tuples.update(((keys << ID_WIDTH) + ids).tolist())

    def count(self, probe: Probe) -> int:
        bisect = self.tuples.bisect_left
        lows, highs = ((bounds[0] << ID_WIDTH).tolist() for bounds in (probe.low, probe.high + 1))
        return sum(bisect(high) - bisect(low) for low, high in zip(lows, highs, strict=True))


class Structure:
    """One of the paper's, with the same methods."""

    def __init__(self, subwindow: Subwindow):
        self.subwindow = subwindow
        self.insert_batch = subwindow.insert_batch

    def refill(self, keys: np.ndarray) -> None:
        self.subwindow.expire()
        self.insert_batch(keys, np.arange(len(keys)))

    def count(self, probe: Probe) -> int:
        return self.subwindow.probe_batch(probe).count()


def contestants(room: int, partitions: int) -> dict[str, Structure | SortedArray | SortedContainer]:
    """The paper's three, and what stands beside them."""
    return {
        RAP_TABLE: Structure(RapTable(room, partitions)),
        WIB_TREE: Structure(WibTree(room, partitions)),
        BI_SORT: Structure(BiSort(room, partitions)),
        SORTED_ARRAY: SortedArray(),
        SORTED_LIST: SortedContainer(),
    }


def check(keys: np.ndarray, probe: Probe, found: int, name: str) -> None:
    """DesignError unless a structure that holds these keys, which ascend, has found as many matches as there are."""
    (low,), (high,) = probe.low, probe.high
    expected = (np.searchsorted(keys, high, side="right") - np.searchsorted(keys, low, side="left")).sum()
    if found != expected:
        raise DesignError(f"{name} finds {found} matches where there are {expected}")


def uniform_keys(rng: np.random.Generator, size: int) -> np.ndarray:
    """Keys in ascending order, as a batch has them."""
    return np.sort(rng.integers(0, 1 << KEY_WIDTH, size))


def seconds(action: Callable[[], object]) -> float:
    """How long it takes the processor."""
    started = time.thread_time()
    action()
    return time.thread_time() - started


def insertion_rate(subwindows: dict, keys: dict, batch: int, tuples: int, turns: int) -> dict:
    """Tuples a second with which each subwindow takes batches, measured over at least so many tuples.

    For each turn a subwindow is filled anew with its ``keys``, outside of the measured time.
    """
    rng = np.random.default_rng(batch)
    parts = -(-tuples // batch)

    def insert(subwindow, batches):
        for each in batches:
            subwindow.insert_batch(each, np.arange(len(each)))

    best = dict.fromkeys(subwindows, float("inf"))
    for _ in range(turns):
        batches = [uniform_keys(rng, batch) for _ in range(parts)]
        for name, subwindow in subwindows.items():
            subwindow.refill(keys[name])
            best[name] = min(best[name], seconds(partial(insert, subwindow, batches)))
    return {name: parts * batch / each for name, each in best.items()}


def brief(number: int) -> str:
    """Powers of two as people write them: 64 K, 8 M."""
    for factor, letter in ((1 << 20, " M"), (1 << 10, " K")):
        if number >= factor and number % factor == 0:
            return f"{number // factor}{letter}"
    return str(number)


def series_of(points: list[dict], line: str = "variant", along: str = "batch") -> dict:
    """For each variant its rates, by batch."""
    found: dict = {}
    for point in points:
        found.setdefault(point[line], {})[point[along]] = point["rate"]
    return found


def draw_rates(
    axes: Axes,
    lines: dict[str, dict],
    looks: dict[str, Look],
    *,
    x: str,
    rates: list,
    title: str = "",
    of: str = "tuples",
) -> None:
    """A line for each name through its rates, both axes logarithmic; ``rates`` are all that should fit in."""
    for name, line in lines.items():
        look = looks[name]
        sizes = {"linewidth": look.width, "marker": look.mark, "markersize": look.size}
        axes.plot(list(line), [rate / 1e6 for rate in line.values()], color=look.colour, zorder=3, **sizes)
    style.dress(axes, title=title, x=x, y=f"Million {of} a second")
    ticks = sorted({at for line in lines.values() for at in line})
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [brief(tick) for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    style.upward(axes, [rate / 1e6 for rate in rates], wide=True)


def rates_by_batch(data: dict) -> Table:
    """A row for each size of batch, a column for each variant."""
    found = series_of(data["points"])
    batches = sorted({point["batch"] for point in data["points"]})
    rows = [(brief(batch), *(f"{line[batch] / 1e6:.3f}" for line in found.values())) for batch in batches]
    return Table(("batch, M tuples/s", *found), rows)
