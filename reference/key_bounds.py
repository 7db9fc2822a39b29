"""What key ranges of a predicate mean for sorted keys: the bounds of each probe, and matches as ranges of positions."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from .key_ranges import Ranges

LAST = np.iinfo(np.int64).max
_BLOCK = 1 << 20  # pairs expanded at a time

Pairs = Iterator[tuple[np.ndarray, np.ndarray]]


def key_bounds(keys: np.ndarray, ranges: Ranges, keys_are_r: bool) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each range of r.key - s.key, the least and the most that the other tuple's key may be, both included.

    Bounds beyond int64 are held at its ends, so that a key of 2**63 - 1 may be let through wrongly.
    """
    bounds = []
    for low, high in ranges:
        lo, hi = -LAST if low is None else low, LAST if high is None else high
        # r - s in [lo, hi] means r in [s + lo, s + hi] and s in [r - hi, r - lo].
        least, most = (-hi, -lo) if keys_are_r else (lo, hi)
        bounds.append((_add(keys, least), _add(keys, most)))
    return bounds


def _add(keys: np.ndarray, distance: int) -> np.ndarray:
    """keys + distance, held at the ends of int64 instead of wrapping round. Keys are not negative."""
    distance = max(-LAST, min(LAST, distance))
    return np.minimum(keys, LAST - max(distance, 0)) + distance


def expand(first: np.ndarray, last: np.ndarray) -> Pairs:
    """The pairs (row, position) with position in [first, last) of the row, about a block's worth at a time."""
    counts = last - first
    ends = np.cumsum(counts)
    cuts = np.searchsorted(ends, np.arange(0, ends[-1] if len(ends) else 0, _BLOCK), side="right")
    for begin, end in pairwise([*cuts.tolist(), len(counts)]):
        count = counts[begin:end]
        row = np.repeat(np.arange(begin, end), count)
        if len(row):
            skipped = ends[begin:end] - ends[begin] + counts[begin] - count
            yield row, np.arange(len(row)) + np.repeat(first[begin:end] - skipped, count)
