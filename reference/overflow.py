"""What overflows cost: a window without room for its span loses results that the spans ask for."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from .arrivals import Arrivals, Windows
from .compare import Difference, compare
from .key_bounds import LAST
from .predicates import Predicate
from .vectorised import window_join_blocks

_SHOWN = 3  # lost results that are kept as examples


def needed_rooms(arrivals: Arrivals, windows: Windows) -> tuple[int, ...]:
    """For each stream the most of its tuples that are within its span at a time: with so much room none overflows."""
    windows.check(arrivals)
    needed = []
    for stream, span in enumerate(windows.spans or ()):
        time = arrivals.times[arrivals.stream == stream]
        oldest = np.searchsorted(time, time - min(span, LAST), side="right")
        needed.append(int((np.arange(1, len(time) + 1) - oldest).max(initial=1)))
    return tuple(needed)


def most_rooms(needed: Iterable[Sequence[int]]) -> tuple[int, ...]:
    """For each stream the most that any of several parts needs; none if nothing is needed."""
    return tuple(map(max, zip(*filter(None, needed), strict=True)))


def lost_results(arrivals: Arrivals, predicate: Predicate, windows: Windows) -> Iterator[np.ndarray]:
    """The results of the join of the spans that the rooms do not allow, some at a time: rows of arrival numbers.

    A result is lost if one of its tuples is no longer among the last ``room`` of its stream when the latest arrives.
    """
    is_of = [arrivals.stream == stream for stream in range(windows.streams)]
    before = [np.cumsum(mine) - mine for mine in is_of]  # how many of each stream came before each arrival
    for rows in window_join_blocks(arrivals, predicate, windows.with_room_for(arrivals)):
        later = rows.max(axis=1)
        lost = np.zeros(len(rows), bool)
        for count, room, numbers in zip(before, windows.rooms, rows.T, strict=True):
            lost |= count[later] - count[numbers] > room
        yield rows[lost]


def with_overflows(difference: Difference, lost: Iterable[np.ndarray], *, since: int = 0) -> Difference:
    """The difference from the join of the spans, of one from what the rooms allow and the results lost between the two.

    A design that gives one of these all the same is right. Those whose latest tuple came before ``since`` are not
    counted.
    """
    extra, count, first = difference.extra, 0, difference.lost
    for rows in lost:
        absent = rows
        if len(extra):
            apart = compare(rows, extra)
            absent, extra = apart.missing, apart.extra
        later = absent.max(axis=1, initial=-1)
        count += np.count_nonzero(later >= since)
        first = np.concatenate([first, absent[later >= since]])
        first = first[np.argsort(first.max(axis=1, initial=-1), kind="stable")[:_SHOWN]]
    return replace(difference, extra=extra, missing_by_overflow=int(count), lost=first)
