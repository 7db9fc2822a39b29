"""WiB+-Tree: a B+-tree with wide, unsorted leaves (Pan and Jacobsen 2018, section III-C)."""

from math import ceil

import numpy as np

from ..key_bounds import LAST
from .answers import Answer
from .inner_nodes import InnerNodes
from .llat import Llat
from .partition_scan import scan
from .probe import Probe
from .subwindow import Subwindow, check_partitions


class WibTree(Subwindow):
    """A subwindow in ranges of keys that follow the keys as they come, growing ones included.

    Leaves are lists of an LLAT. A leaf is sorted only to be split, and equal keys stay in one leaf, however many they
    are.

    *Why the LLAT never overflows.* A list of n tuples takes ``n // capacity + 1`` entries, so all lists together take
    at most ``room / capacity <= P / sigma``, and one more for each leaf. That leaves room for ``(2 - 1/sigma) P``
    leaves: none may hold fewer than ``least = room / ((2 - 1/sigma) P)`` tuples. So a leaf is split only where both
    parts have that many, which needs twice as many tuples. A split in half by itself would not do: beside a key that
    fills a leaf, a new leaf could be split off for every tuple.

    Parameters
    ----------
    partitions : P, about the number of leaves
    sigma : how much larger than an even share an entry of the table is
    fan : children of an inner node
    sorted_leaves : keep every leaf in order, to see what it saves that they are not
    """

    def __init__(
        self, room: int, partitions: int = 64, sigma: float = 1.25, fan: int = 64, *, sorted_leaves: bool = False
    ):
        super().__init__(room)
        self.partitions = check_partitions(partitions)
        self.fan = fan
        self.sorted_leaves = sorted_leaves
        self.llat = Llat(room, partitions, sigma)
        self.least = ceil(room / ((2 - 1 / sigma) * partitions))
        self._limit = np.empty(self.llat.entries, np.int64)  # tuples with which a leaf is to be split
        self._begin()

    def _begin(self) -> None:
        self.nodes = InnerNodes(0, self.fan)
        self._limit.fill(2 * self.least)

    def _forget(self) -> None:
        self.llat.clear_all(1)
        self._begin()

    def _take(self, keys: np.ndarray, ids: np.ndarray) -> None:
        touched = self.llat.append(self.nodes.find(keys), keys, ids)
        full = self.llat.count[touched] >= self._limit[touched]
        if self.sorted_leaves:
            self._sort_and_split(touched, full)
        elif full.any():
            self._sort_and_split(touched[full], full[full])

    def _sort_and_split(self, leaves: np.ndarray, full: np.ndarray) -> None:
        """Put leaves, given in the order of their keys, in order within; split those that are full."""
        size = self.llat.count[leaves]
        end = np.cumsum(size)
        keys, ids = self.llat.clear(leaves)
        order = np.argsort(keys, kind="stable")  # leaves do not overlap: each stays together
        keys, ids = keys[order], ids[order]

        cut = cuts(keys, (end - size)[full], end[full], self.least)
        fresh = self.llat.open(len(cut))
        for bound, leaf in zip(keys[cut - 1].tolist(), fresh.tolist(), strict=True):
            self.nodes.split(bound, leaf)
        begin = np.concatenate([end - size, cut])
        parts = np.argsort(begin, kind="stable")
        begin, parts = begin[parts], np.concatenate([leaves, fresh])[parts]
        count = np.diff(begin, append=len(keys))
        self.llat.append(np.repeat(parts, count), keys, ids)
        # A part that could not be split further is tried again when it has grown by a quarter: sorting it over and
        # over then costs each of its tuples no more than a few places in a sort.
        self._limit[parts] = np.maximum(2 * self.least, np.where(count < 2 * self.least, 0, 5 * count // 4))

    def probe_batch(self, probe: Probe) -> Answer:
        bounds, leaves = self.nodes.in_a_row()
        return scan(self.llat, leaves, bounds, probe)


def cuts(keys: np.ndarray, begin: np.ndarray, end: np.ndarray, least: int) -> np.ndarray:
    """Where to cut stretches [begin, end) of ascending keys.

    Between two different keys, near to where parts of a quarter more than ``least`` would end, and such that no part
    is smaller than ``least``.
    """
    places = [np.empty(0, np.int64)]
    between = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    size = end - begin
    parts = np.maximum(2, 4 * size // (5 * least)) if len(between) else np.ones_like(size)
    previous = begin.copy()
    for number in range(1, int(parts.max(initial=1))):
        (owner,) = np.nonzero(number < parts)
        wanted = begin[owner] + size[owner] * number // parts[owner]
        after = np.searchsorted(between, wanted, side="left")
        place = np.stack([between[np.maximum(after - 1, 0)], between[np.minimum(after, len(between) - 1)]])
        fits = (place - previous[owner] >= least) & (end[owner] - place >= least)
        distance = np.where(fits, np.abs(place - wanted), LAST)
        place = np.where(distance[0] < distance[1], *place)[fits.any(axis=0)]
        previous[owner[fits.any(axis=0)]] = place
        places.append(place)
    return np.concatenate(places)
