"""A few tuples in the order in which they came."""

import numpy as np

from .answers import Records
from .probe import Probe


class UnsortedBuffer:
    """Tuples that wait to be merged, or that came too late to be.

    They are sorted when they are probed, once for a whole batch: a batch pays less for that than for comparing each of
    its tuples with all.
    """

    def __init__(self):
        self._tuples = np.empty((2, 16), np.int64)  # keys and ids
        self.clear()

    def __len__(self) -> int:
        return self._held

    def clear(self) -> None:
        self._held = 0
        self._in_order = None

    def add(self, keys: np.ndarray, ids: np.ndarray) -> None:
        held, self._held = self._held, self._held + len(keys)
        if self._held > self._tuples.shape[1]:
            larger = np.empty((2, 2 * self._held), np.int64)
            larger[:, :held] = self._tuples[:, :held]
            self._tuples = larger
        self._tuples[:, held : self._held] = keys, ids
        self._in_order = None

    def in_order(self) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ids, ascending by key."""
        if self._in_order is None:
            keys, ids = self._tuples[:, : self._held]
            order = np.argsort(keys, kind="stable")
            self._in_order = keys[order], ids[order]
        return self._in_order

    def probe(self, probe: Probe) -> Records:
        keys, ids = self.in_order()
        start, end = np.searchsorted(keys, probe.low, side="left"), np.searchsorted(keys, probe.high, side="right")
        return Records(start, end, probe.negated, ids)
