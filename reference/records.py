"""What records stand for: pairs in the order in which batches were processed, by a mirror of the design's arrays."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .arrivals import Arrivals
from .errors import DesignError
from .predicates import Predicate


@dataclass(frozen=True, eq=False)
class Expansion:
    """The pairs that records stand for, and those that there should be.

    Attributes
    ----------
    row
        For each pair the record that it comes from.
    numbers, expected
        Arrival numbers of R and S. A record cannot say which of the tuples in its range have left their window since,
        or came later in the same batch; so these are all pairs of a tuple that probes with what is stored at that
        moment, which is the window rounded up to whole subwindows.
    """

    row: np.ndarray
    numbers: np.ndarray
    expected: np.ndarray


class _Chain:
    """The subwindows of a stream, oldest first: for each the region it lies in, and its arrival numbers by key."""

    def __init__(self, length: int, subwindow: int):
        self._length, self._subwindow = length, subwindow
        self.regions: dict[int, np.ndarray] = {}

    def insert(self, region: int, numbers: np.ndarray, keys: np.ndarray) -> None:
        newest = next(reversed(self.regions), None)
        held = np.empty(0, np.int64)
        if newest is not None and len(self.regions[newest]) < self._subwindow:
            held = self.regions.pop(newest)
        elif len(self.regions) == self._length:
            del self.regions[next(iter(self.regions))]
        if region in self.regions or len(held) + len(numbers) > self._subwindow:
            raise DesignError(f"a step put {len(numbers)} tuples into region {region}, where there is no room for them")
        merged = np.concatenate([held, numbers])
        self.regions[region] = merged[np.argsort(keys[merged], kind="stable")]

    @property
    def stored(self) -> np.ndarray:
        return np.concatenate([np.empty(0, np.int64), *self.regions.values()])


@dataclass(frozen=True)
class RecordMirror:
    """The arrays that records point into: subwindows of so many tuples, so many in the chain of R and of S."""

    predicate: Predicate
    subwindow: int
    chains: tuple[int, int]

    def expand(
        self, columns: Mapping[str, np.ndarray], arrivals: Arrivals, kept: np.ndarray, finished: bool
    ) -> Expansion:
        """Follow records step by step; DesignError where they make no sense.

        ``columns`` are the fields of all transfers, payloads as arrival numbers; ``kept`` says which arrivals were
        taken and not dropped; ``finished`` whether the run came to its end.
        """
        accepted = np.flatnonzero(kept)
        waiting = [accepted[arrivals.stream[accepted] == stream] for stream in (0, 1)]
        chains = [_Chain(length, self.subwindow) for length in self.chains]
        mark = columns["mark"].astype(bool)
        pairs, rows, expected = [], [], []
        begin = 0
        for end in np.flatnonzero(mark):
            stream = int(columns["of_s"][end])
            probes, waiting[stream] = np.split(waiting[stream], [int(columns["count"][end])])
            for row in range(begin, end):
                matches = self._stored(chains[1 - stream], row, int(columns["first"][row]), int(columns["count"][row]))
                pair = np.empty((len(matches), 2), np.int64)
                pair[:, stream], pair[:, 1 - stream] = columns["payload"][row], matches
                pairs.append(pair)
                rows.append(np.full(len(matches), row))
            expected.append(self._meetings(arrivals, stream, probes, chains[1 - stream].stored))
            chains[stream].insert(int(columns["first"][end]) // self.subwindow, probes, arrivals.key)
            begin = end + 1
        if finished and (begin != len(mark) or any(map(len, waiting))):
            raise DesignError(f"{len(mark) - begin} records and {sum(map(len, waiting))} tuples are of no step")
        return Expansion(
            np.concatenate([np.empty(0, np.int64), *rows]),
            np.concatenate([np.empty((0, 2), np.int64), *pairs]),
            np.concatenate([np.empty((0, 2), np.int64), *expected]),
        )

    def _stored(self, chain: _Chain, row: int, place: int, count: int) -> np.ndarray:
        """The tuples in so many places, from this one on."""
        region, first = divmod(place, self.subwindow)
        found = chain.regions.get(region, np.empty(0, np.int64))[first:][:count]
        if len(found) != count:
            raise DesignError(f"result {row} is of places in region {region} where nothing is")
        return found

    def _meetings(self, arrivals: Arrivals, stream: int, probes: np.ndarray, stored: np.ndarray) -> np.ndarray:
        """All pairs of these tuples that match."""
        sides = (probes, stored) if stream == 0 else (stored, probes)
        r, s = np.meshgrid(*sides, indexing="ij")
        holds = self.predicate.holds_for(arrivals[r.ravel()], arrivals[s.ravel()])
        return np.column_stack([r.ravel()[holds], s.ravel()[holds]])
