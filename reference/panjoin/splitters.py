"""Splitter adjustment: the bounds of a new subwindow's partitions from the histograms of the one before.

Algorithm 1 of Pan and Jacobsen 2018, with the ``+ min`` that its line 7 lacks.
"""

import numpy as np

from ..key_bounds import LAST


class Histograms:
    """Of each partition the number of its tuples, the least and the greatest key."""

    def __init__(self, partitions: int):
        self.count = np.zeros(partitions, np.int64)
        self.least = np.full(partitions, LAST)
        self.most = np.zeros(partitions, np.int64)

    def add(self, partitions: np.ndarray, keys: np.ndarray) -> None:
        """Ascending keys and the partitions they belong to."""
        begin = np.flatnonzero(np.diff(partitions, prepend=-1))
        touched = partitions[begin]
        end = np.append(begin[1:], len(keys))
        self.count[touched] += end - begin
        self.least[touched] = np.minimum(self.least[touched], keys[begin])
        self.most[touched] = np.maximum(self.most[touched], keys[end - 1])


def even_splitters(partitions: int, key_width: int) -> np.ndarray:
    """Where nothing is known yet: all keys of that width in equal shares."""
    return np.array([(i << key_width) // partitions for i in range(1, partitions)], np.int64)


def adjusted(splitters: np.ndarray, seen: Histograms) -> np.ndarray:
    """New splitters: the last key of each partition but the last, such that partitions would have held equal shares.

    The ``j``-th splitter has ``N / P * j`` tuples up to it. The running sum of counts tells the partition in which
    that tuple is; there, keys are taken to be spread evenly between the least and the greatest. With keys of ``w``
    bits, ``ceil(log_P 2**w)`` adjustments bring even the worst case in order: 4 for P = 1024 and 32 bits, 2 for 65536.
    """
    total = int(seen.count.sum())
    if total == 0:
        return splitters
    partitions = len(seen.count)
    wanted = total / partitions * np.arange(1, partitions)
    sums = np.cumsum(seen.count)
    # The first partition whose running sum reaches what is wanted has tuples.
    at = np.searchsorted(sums, wanted, side="left")
    share = (wanted - (sums - seen.count)[at]) / seen.count[at]
    least, most = seen.least[at], seen.most[at]
    # Floating point may be off in the last of 63 bits, never beyond the partition.
    return np.clip(least + np.floor(share * (most - least)).astype(np.int64), least, most)


def imbalance(count: np.ndarray) -> float:
    """The mean distance of a partition's tuples from an even share, as a part of that share: 0 where all is even."""
    share = count.sum() / len(count)
    return float(np.abs(count - share).mean() / share)
