"""BI-Sort: a buffer that takes tuples as they come, a main array in order, an index of samples.

Pan and Jacobsen 2018, section III-D.
"""

import numpy as np

from .answers import Answer, Records
from .probe import Probe
from .searching import search_within
from .subwindow import Subwindow, check_partitions
from .unsorted_buffer import UnsortedBuffer


class BiSort(Subwindow):
    """A subwindow in full order.

    Inserting costs a pass over the main array for each full buffer, or for each batch that is larger than the buffer.
    Probing finds the ends of each band by the index and then within one partition, and answers records: its cost does
    not depend on how many tuples match. Merging goes from one half of the memory to the other, so that an answer is
    good until the next insertion.

    Parameters
    ----------
    partitions : samples in the index, P: one for every so many tuples of the main array
    buffer : tuples that wait to be merged, B
    """

    def __init__(self, room: int, partitions: int = 64, buffer: int = 1024):
        super().__init__(room)
        self.partitions = check_partitions(partitions)
        if buffer < 1:
            raise ValueError(f"a buffer of {buffer} tuples takes nothing: give it room for at least 1")
        self.buffer_room = buffer
        self.buffer = UnsortedBuffer()
        self._halves = [np.empty((2, room), np.int64) for _ in range(2)]
        self._tuples = self._halves[0]
        self._forget()

    def _forget(self) -> None:
        self.buffer.clear()
        self._tuples = self._tuples[:, :0]
        self._index_anew()

    @property
    def keys(self) -> np.ndarray:
        """The main array: keys in ascending order."""
        return self._tuples[0]

    @property
    def order(self) -> np.ndarray:
        """The ids of the tuples in the main array."""
        return self._tuples[1]

    def _take(self, keys: np.ndarray, ids: np.ndarray) -> None:
        if len(keys) > self.buffer_room:
            self._merge(keys, ids)
            return
        if len(self.buffer) + len(keys) > self.buffer_room:
            self._merge(*self.buffer.in_order())
            self.buffer.clear()
        self.buffer.add(keys, ids)

    def _merge(self, keys: np.ndarray, ids: np.ndarray) -> None:
        """Merge tuples in order into the main array, out of one half of the memory into the other."""
        size = len(self.keys) + len(keys)
        place = np.searchsorted(self.keys, keys, side="right") + np.arange(len(keys))
        old = np.ones(size, bool)
        old[place] = False
        self._halves.reverse()
        merged = self._halves[0][:, :size]
        for column, before, new in zip(merged, self._tuples, (keys, ids), strict=True):
            column[old], column[place] = before, new
        self._tuples = merged
        self._index_anew()

    def _index_anew(self) -> None:
        """Sample the first key of every partition."""
        self.stride = max(1, -(-len(self.keys) // self.partitions))
        self.index = self.keys[:: self.stride].copy()

    def _places(self, targets: np.ndarray) -> np.ndarray:
        """The first place of the main array whose key is not below the target.

        It is in the partition of the last sample that is below the target, or right after it.
        """
        partition = np.searchsorted(self.index, targets, side="left") - 1
        return search_within(self.keys, np.maximum(partition, 0) * self.stride, self.stride, targets)

    def probe_batch(self, probe: Probe) -> Answer:
        parts = []
        if len(self.keys):
            start, end = (self._places(bounds.ravel()).reshape(bounds.shape) for bounds in (probe.low, probe.high + 1))
            parts.append(Records(start, end, probe.negated, self.order))
        if len(self.buffer):
            parts.append(self.buffer.probe(probe))
        return Answer(tuple(parts))
