"""Probing partitions that are in order among each other but not within (PanJoin, sections III-E and III-F).

A probe looks for a band of keys. The partitions in which the ends of the band lie are compared tuple by tuple; those
between them match as a whole and are copied.
"""

from collections.abc import Iterator

import numpy as np

from ..key_bounds import expand
from .answers import Answer, Pairs
from .llat import Llat
from .probe import Probe

_BLOCK = 1 << 16  # comparisons at a time: they stay in cache


def scan(llat: Llat, lists: np.ndarray, bounds: np.ndarray, probe: Probe) -> Answer:
    """The matches of each probe.

    Parameters
    ----------
    lists : the lists of the partitions, in the order of their keys
    bounds : the last key of each partition but the last, ascending, repeated where a partition can hold none
    """
    found: list[Pairs] = []
    for low, high in probe.bands():
        (rows,) = np.nonzero(low <= high)
        # A bound beyond all splitters lies in the last partition.
        first, last = (np.searchsorted(bounds, end[rows], side="left") for end in (low, high))
        found += _compare(llat, rows, lists[first], low, high)
        apart = last > first
        found += _compare(llat, rows[apart], lists[last[apart]], low, high)
        for at, partition in expand(np.minimum(first + 1, last), last):
            found += _copy(llat, rows[at], lists[partition])
    return Answer(tuple(found))


def _compare(llat: Llat, rows: np.ndarray, lists: np.ndarray, low, high) -> Iterator[Pairs]:
    """Those tuples of each probe's list that lie within the probe's band."""
    capacity = llat.capacity
    keys = llat.keys.reshape(-1, capacity)
    number, entries = llat.walk(lists)
    rows = rows[number]
    low, width = low[rows, None], (high - low)[rows, None].view(np.uint64)
    step = max(1, _BLOCK // capacity)
    for begin in range(0, len(rows), step):
        block = slice(begin, begin + step)
        # Within [low, high] is one comparison of unsigned numbers: what is below low wraps round.
        distance = keys[entries[block]]
        distance -= low[block]
        at, place = np.divmod(np.flatnonzero(distance.view(np.uint64) <= width[block]), capacity)
        yield Pairs(rows[block][at], llat.ids[entries[block][at] * capacity + place])


def _copy(llat: Llat, rows: np.ndarray, lists: np.ndarray) -> Iterator[Pairs]:
    """All tuples of each probe's list."""
    number, entries = llat.walk(lists)
    for at, place in llat.places(entries):
        yield Pairs(rows[number[at]], llat.ids[place])
