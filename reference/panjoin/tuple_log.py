"""What has to be known of recent tuples beside their keys, found by their number in the stream."""

import numpy as np


class TupleLog:
    """Columns of the last tuples of a stream; the first ones are forgotten as they are no longer needed."""

    def __init__(self, *names: str):
        self._names = {name: row for row, name in enumerate(names)}
        self._values = np.empty((len(names), 16), np.int64)
        self._base = 0
        self.size = 0

    def append(self, **columns: np.ndarray) -> None:
        """The next tuples, a column for every name."""
        held = self.size - self._base
        added = np.stack([columns[name] for name in self._names])
        needed = held + added.shape[1]
        if needed > self._values.shape[1]:
            larger = np.empty((len(self._names), 2 * needed), np.int64)
            larger[:, :held] = self._values[:, :held]
            self._values = larger
        self._values[:, held:needed] = added
        self.size += added.shape[1]

    def at(self, name: str, ids) -> np.ndarray:
        """The values of these tuples, none of which has been forgotten."""
        return self._values[self._names[name]][ids - self._base]

    def forget(self, before: int) -> None:
        """Tuples before this one are no longer needed. The others move up when they are the smaller part."""
        gone, held = before - self._base, self.size - self._base
        if 2 * gone > held:
            self._values[:, : held - gone] = self._values[:, gone:held]
            self._base = before
