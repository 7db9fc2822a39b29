"""What all subwindows have in common: tuples go in by batches, are probed by batches, and leave all at once."""

from abc import ABC, abstractmethod

import numpy as np

from .answers import Answer
from .probe import LAST_KEY, Probe


class Subwindow(ABC):
    """Tuples that arrived one after the other, with an index on their keys.

    A tuple is its key, from 0 to 2**63 - 2, and an id, which answers give back. There is no deletion of single
    tuples: a subwindow expires as a whole.

    Parameters
    ----------
    room : how many tuples there is room for
    """

    def __init__(self, room: int):
        if room < 1:
            raise ValueError(f"a subwindow of {room} tuples holds nothing: give it room for at least 1")
        self.room = room
        self._held = 0

    def __len__(self) -> int:
        return self._held

    def insert(self, key: int, tuple_id: int) -> None:
        """Take one tuple."""
        self.insert_batch(np.array([key], np.int64), np.array([tuple_id], np.int64))

    def insert_batch(self, keys: np.ndarray, ids: np.ndarray) -> None:
        """Take a batch in ascending order of keys; ValueError, and nothing is taken, if it has another or no room."""
        if self._held + len(keys) > self.room:
            raise ValueError(
                f"{self._held} + {len(keys)} tuples are too many for a subwindow of {self.room}: begin a new one"
            )
        if len(keys) == 0:
            return
        if np.any(keys[1:] < keys[:-1]):
            raise ValueError("the keys of a batch go back: sort it by key")
        if keys[0] < 0 or keys[-1] > LAST_KEY:
            raise ValueError(f"a batch has keys from {keys[0]} to {keys[-1]}: give keys from 0 to 2**63 - 2")
        self._held += len(keys)
        self._take(keys, ids)

    def expire(self) -> None:
        """Forget all tuples; the memory is ready for the next ones."""
        self._held = 0
        self._forget()

    def follow(self, predecessor: "Subwindow") -> None:
        """Prepare an empty subwindow by what the one before it has seen of the keys."""
        del predecessor  # most structures have nothing to learn

    @abstractmethod
    def probe_batch(self, probe: Probe) -> Answer:
        """The matches of each probe among all tuples held."""

    @abstractmethod
    def _take(self, keys: np.ndarray, ids: np.ndarray) -> None:
        """At least one tuple, in ascending order of keys, for which there is room."""

    @abstractmethod
    def _forget(self) -> None:
        """Begin again, empty."""


def check_partitions(partitions: int) -> int:
    """The same number, if that many partitions can be."""
    if partitions < 1:
        raise ValueError(f"{partitions} partitions hold nothing: give at least 1")
    return partitions
