"""What a subwindow answers to a batch of probes: records where its tuples are in order, else pairs."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..key_bounds import expand


class Pairs(NamedTuple):
    """Matches one by one: the row of the probe, and the id of the tuple."""

    row: np.ndarray
    tuple_id: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    def blocks(self) -> Iterator["Pairs"]:
        yield self

    def count(self) -> int:
        return len(self.row)


class Records(NamedTuple):
    """Matches as places ``[start, end)`` in an array of tuples that are in order, one record a probe and band.

    A record is as long for a million matches as for one. It cannot be filtered: what it counts is exact for the order
    in which batches were processed.

    Parameters
    ----------
    start, end : bands × probes
    negated : the matches are all places that lie in none of a probe's records (the label "not" of the paper)
    order : the ids of the tuples, in order
    """

    start: np.ndarray
    end: np.ndarray
    negated: bool
    order: np.ndarray

    def blocks(self) -> Iterator[Pairs]:
        """The same as pairs, a block at a time."""
        for first, last in zip(*self._matching(), strict=True):
            for row, place in expand(first, last):
                yield Pairs(row, self.order[place])

    def count(self) -> int:
        first, last = self._matching()
        return int((last - first).sum())

    def _matching(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.negated:
            return self.start, self.end
        row = np.zeros_like(self.start[:1])
        return np.concatenate([row, self.end]), np.concatenate([self.start, row + len(self.order)])


class Answer(NamedTuple):
    """All that a subwindow found; a match is in one part only."""

    parts: tuple[Pairs | Records, ...]

    def blocks(self) -> Iterator[Pairs]:
        """All matches as pairs, a block at a time."""
        for part in self.parts:
            yield from part.blocks()

    def count(self) -> int:
        """How many matches there are; records need not be expanded for that."""
        return sum(part.count() for part in self.parts)
