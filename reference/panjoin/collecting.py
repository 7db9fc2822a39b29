"""Collecting tuples into batches: a stream's batch is complete by count or by time.

Pan and Jacobsen 2018, section III-E.
"""

from collections.abc import Iterator

import numpy as np

from ..key_bounds import LAST


class Collector:
    """Says when which of two streams is to be processed.

    Parameters
    ----------
    batch : a batch is complete with so many tuples
    patience : or when an arrival's time is so many ticks past that of its first tuple; None to wait for ever
    """

    def __init__(self, batch: int, patience: int | None = None):
        if batch < 1:
            raise ValueError(f"a batch of {batch} tuples is never full: give at least 1")
        if patience is not None and patience < 1:
            raise ValueError(f"a patience of {patience} ticks collects nothing: give at least 1, or none at all")
        self.batch, self.patience = batch, patience
        self._waiting = [0, 0]
        self._since = [0, 0]

    def batches(self, stream: np.ndarray, clock: np.ndarray) -> Iterator[tuple[int, int]]:
        """The next arrivals, of which ``clock`` is the time and never goes back: for each batch that they complete its
        stream and its size, in the order of completion."""
        rows = [np.flatnonzero(stream == number) for number in (0, 1)]
        while True:
            ends = [self._end(number, rows[number], clock) for number in (0, 1)]
            end = min(ends)
            for number in (0, 1):
                rows[number] = self._collect(number, rows[number], clock, end)
            if end > len(clock):
                return
            for number in (0, 1):
                if ends[number] == end:
                    yield number, self._waiting[number]
                    self._waiting[number] = 0

    def rest(self) -> Iterator[tuple[int, int]]:
        """Batches of what is still waiting."""
        for number in (0, 1):
            yield number, self._waiting[number]
            self._waiting[number] = 0

    def _end(self, number: int, rows: np.ndarray, clock: np.ndarray) -> int:
        """Before which arrival the batch is complete; beyond them all if it is not."""
        never = len(clock) + 1
        missing = self.batch - self._waiting[number]
        by_count = int(rows[missing - 1]) + 1 if len(rows) >= missing else never
        if self.patience is None or not (self._waiting[number] or len(rows)):
            return by_count
        since = self._since[number] if self._waiting[number] else int(clock[rows[0]])
        by_time = int(np.searchsorted(clock, min(since + self.patience, LAST)))
        return min(by_count, by_time if by_time < len(clock) else never)

    def _collect(self, number: int, rows: np.ndarray, clock: np.ndarray, end: int) -> np.ndarray:
        """Take the stream's arrivals before ``end``; returns those that are left."""
        taken = int(np.searchsorted(rows, end))
        if taken and not self._waiting[number]:
            self._since[number] = int(clock[rows[0]])
        self._waiting[number] += taken
        return rows[taken:]
