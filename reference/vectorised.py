"""The window join for millions of tuples: the same results as `join.window_join`, found with NumPy.

The tuples that the ``i``-th tuple of one stream sees of another are a range ``[start, stop)`` of that other stream,
and neither bound ever goes back. So chunks of consecutive tuples look into one short stretch of the other stream. A
chunk sorts that stretch by key and looks its key ranges up; where this finds more candidates than the windows hold,
or where nothing is known of the predicate, it compares with the whole windows instead.

Two streams whose keys have to be equal or near need no chunks: see `near_keys`. More than two streams are joined from
the arriving tuple outward, to the last stream and then to the first, each step within the windows at the moment of the
arriving tuple.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .arrivals import Arrivals, Windows
from .key_bounds import LAST, Pairs, expand, key_bounds
from .key_ranges import ClosedRanges, Ranges, closed
from .near_keys import near_pairs
from .predicates import Predicate

_CHUNK = 4096  # probes sorted for at a time: a stretch that stays in cache
_BLOCK = 1 << 16  # pairs compared at a time, likewise
_SAFE = 1 << 61  # keys and distances up to this size can be added
_NARROW = 16  # windows up to this size are compared as a whole faster than sorted


class _Fields(NamedTuple):
    """What a predicate sees of many tuples at once."""

    key: np.ndarray
    key2: np.ndarray | None

    def at(self, index) -> "_Fields":
        return _Fields(self.key[index], None if self.key2 is None else self.key2[index])

    def windows(self, first: int, last: int, width: int) -> "_Fields":
        """A row of ``width`` tuples from each index in [first, last] on, with anything beyond the last of them."""

        def rows(column: np.ndarray) -> np.ndarray:
            stretch = np.zeros(last + width - first, np.int64)
            known = column[first : last + width]
            stretch[: len(known)] = known
            return sliding_window_view(stretch, width)

        return _Fields(rows(self.key), None if self.key2 is None else rows(self.key2))


def window_join_array(arrivals: Arrivals, predicate: Predicate, windows: Windows) -> np.ndarray:
    """All results, each once, in any order: an int64 array of arrival numbers, results × streams."""
    return np.concatenate([np.empty((0, windows.streams), np.int64), *window_join_blocks(arrivals, predicate, windows)])


def window_join_blocks(arrivals: Arrivals, predicate: Predicate, windows: Windows) -> Iterator[np.ndarray]:
    """The same, some of them at a time: however many there are, few are held."""
    windows.check(arrivals)
    numbers = [np.flatnonzero(arrivals.stream == stream) for stream in range(windows.streams)]
    fields = _Fields(arrivals.key, arrivals.key2 if "key2" in predicate.fields else None)
    ranges = _near_ranges(predicate)
    if windows.streams == 2 and ranges is not None and int(arrivals.key.max(initial=0)) < _SAFE:
        yield from _of_near_keys(arrivals, fields, predicate, ranges, windows, numbers)
        return
    tuples = [fields.at(rows) for rows in numbers]
    for arriving in range(windows.streams):
        seen = _seen_by(arriving, arrivals, windows, numbers)
        path = [*pairwise(range(arriving, windows.streams)), *pairwise(range(arriving, -1, -1))]
        whole = {arriving: np.arange(len(numbers[arriving]))}
        for found in _extend(whole, arriving, path, tuples, seen, predicate):
            yield np.stack([numbers[stream][found[stream]] for stream in range(windows.streams)], axis=1)


def _near_ranges(predicate: Predicate) -> ClosedRanges | None:
    """The key ranges, if keys that match are never further apart than some distance."""
    ranges = closed(predicate.key_ranges)
    return ranges if ranges is None or all(abs(bound) < _SAFE for pair in ranges for bound in pair) else None


def _of_near_keys(
    arrivals: Arrivals, fields: _Fields, predicate: Predicate, ranges: ClosedRanges, windows: Windows, numbers
):
    """Results of two streams, a block at a time; the predicate itself is asked, too."""
    oldest = np.empty(len(arrivals), np.int64)
    for arriving, other in ((0, 1), (1, 0)):
        start, _ = _seen_by(arriving, arrivals, windows, numbers)[other]
        oldest[numbers[arriving]] = np.append(numbers[other], len(arrivals))[start]
    for low, high in ranges:
        for r, s in near_pairs(arrivals.key, arrivals.stream == 1, oldest, low, high):
            holds = predicate.holds_for(fields.at(r), fields.at(s))
            yield np.stack([r[holds], s[holds]], axis=1)


def _seen_by(arriving: int, arrivals: Arrivals, windows: Windows, numbers: list[np.ndarray]):
    """For each other stream the bounds (start, stop) of its window at each tuple of the arriving stream."""
    seen = {}
    for other, room in enumerate(windows.rooms):
        if other != arriving:
            stop = np.cumsum(arrivals.stream == other)[numbers[arriving]]
            start = np.maximum(stop - room, 0)
            if windows.spans is not None:
                too_old = arrivals.times[numbers[arriving]] - min(windows.spans[other], LAST)
                start = np.maximum(start, np.searchsorted(arrivals.times[numbers[other]], too_old, side="right"))
            seen[other] = start, stop
    return seen


def _extend(partial: dict[int, np.ndarray], arriving: int, path, tuples, seen, predicate: Predicate):
    """Combinations ``{stream: indices}`` that extend ``partial`` along ``path``, a block at a time.

    Depth first, so that no more than one block of each length is held, however many results there are.
    """
    if not path:
        yield partial
        return
    (known, other), *rest = path
    start, stop = (bound[partial[arriving]] for bound in seen[other])
    probes = tuples[known].at(partial[known])
    search = _Search(probes, tuples[other], start, stop, predicate, probes_are_r=known < other)
    for rows, index in search.matches():
        extended = {stream: indices[rows] for stream, indices in partial.items()}
        yield from _extend(extended | {other: index}, arriving, rest, tuples, seen, predicate)


def _as_slice(index: np.ndarray) -> np.ndarray | slice:
    """The same indices as a slice if each is the one before and one more: what it cuts out is not copied."""
    return slice(int(index[0]), int(index[-1]) + 1) if (np.diff(index) == 1).all() else index


@dataclass
class _Search:
    """Find for each probe the ``others`` within [start, stop) that match it.

    The bounds never go back from one probe to the next. Neither do the rows of the pairs (row of the probe, index
    of the other) within one block that a method yields.
    """

    probes: _Fields
    others: _Fields
    start: np.ndarray
    stop: np.ndarray
    predicate: Predicate
    probes_are_r: bool

    def matches(self) -> Pairs:
        for chunk in self._chunks():
            width = int((self.stop[chunk] - self.start[chunk]).max())
            if width == 0:
                continue
            ranges = self.predicate.key_ranges
            if ranges is None or width <= _NARROW:
                yield from self._scan(chunk, width)
            else:
                yield from self._look_up(chunk, width, ranges)

    def _chunks(self) -> Iterator[slice]:
        """Consecutive probes, not too many and with not too long a stretch of others to sort."""
        first = 0
        while first < len(self.start):
            width = int(self.stop[first] - self.start[first])
            size = max(_CHUNK, width)
            reach = np.searchsorted(self.stop, self.start[first] + width + size, side="right")
            end = min(first + size, max(first + 1, int(reach)), len(self.start))
            yield slice(first, end)
            first = end

    def _scan(self, chunk: slice, width: int) -> Pairs:
        """Compare each probe with the whole of its window."""
        offsets = np.arange(width)
        base = int(self.start[chunk.start])
        windows = self.others.windows(base, int(self.start[chunk.stop - 1]), width)
        step = max(1, _BLOCK // width)
        for first in range(chunk.start, chunk.stop, step):
            block = slice(first, min(first + step, chunk.stop))
            start = self.start[block]
            holds = self._holds(self.probes.at((block, None)), windows.at(_as_slice(start - base)))
            widths = self.stop[block] - start
            if int(widths.min()) < width:
                holds = holds & (offsets < widths[:, None])
            found = np.flatnonzero(holds)
            row = found // width
            yield first + row, start[row] + (found - row * width)

    def _look_up(self, chunk: slice, width: int, ranges: Ranges) -> Pairs:
        """Sort the stretch that the chunk sees by key, and find the key ranges in it."""
        base = int(self.start[chunk.start])
        stretch = self.others.key[base : int(self.stop[chunk.stop - 1])]
        order = np.argsort(stretch)
        found = self._positions(stretch[order], self.probes.key[chunk], ranges)
        if sum(int((last - first).sum()) for _, first, last in found) > (chunk.stop - chunk.start) * width:
            yield from self._scan(chunk, width)
            return
        order += base
        for rows, first, last in found:
            for row, position in expand(first, last):
                yield self._keep(rows[row] + chunk.start, order[position])

    def _positions(
        self, ordered: np.ndarray, keys: np.ndarray, ranges: Ranges
    ) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """For each key range, the probes that have matches among the ordered keys, and where these begin and end."""
        found = []
        for least, most in key_bounds(keys, ranges, self.probes_are_r):
            first = np.searchsorted(ordered, least, side="left")
            rows = np.flatnonzero(np.append(ordered, LAST)[first] <= most)
            found.append((rows, first[rows], np.searchsorted(ordered, most[rows], side="right")))
        return found

    def _keep(self, row: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Those pairs that lie within the window and for which the predicate, asked itself, holds."""
        inside = (self.start[row] <= index) & (index < self.stop[row])
        row, index = row[inside], index[inside]
        matching = self._holds(self.probes.at(row), self.others.at(index))
        return row[matching], index[matching]

    def _holds(self, probes: _Fields, others: _Fields) -> np.ndarray:
        return self.predicate.holds_for(*((probes, others) if self.probes_are_r else (others, probes)))
