"""Segments: parts of a join that are run apart from each other and together are the whole, each result once.

A segment is arrivals [a, b) and, as *warm-up* before them, whatever they can meet: the last W tuples of each stream or,
where windows are time-based, all tuples that are younger than their stream's span when ``a`` arrives, whatever the
room. A result counts in the segment that its latest tuple belongs to; there its other tuples are either arrivals of
the segment's own or warm-up, for time never goes back. So consecutive segments give every result once.

Why the room does no harm. Of a stream the warm-up has all tuples that are young enough to matter, without a gap and in
their order. So the last ``room`` of these are the same in the segment as in the whole: what a design loses for want of
room it loses in both. A tuple overflows when the ``room``-th after it arrives less than a span later. If that one is
an arrival of the segment's own, then both and all between them are in the segment, which counts the overflow as the
whole does; overflows that the warm-up causes within itself are those of segments before, and are not counted again.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .arrivals import Arrivals, Windows
from .join import count_overflows
from .key_bounds import LAST


class Source(Protocol):
    """Where arrivals come from: `Arrivals` themselves, or anything that makes or reads a part of them."""

    def slice(self, start: int, stop: int) -> Arrivals:
        """Arrivals [start, stop)."""
        ...


@dataclass(frozen=True, eq=False)
class Segment:
    """Arrivals [a, b) and, before them, the tuples that they can meet.

    Parameters
    ----------
    arrivals : warm-up, then [a, b)
    numbers : for each of them its arrival number in the whole
    warm_up : how many of them are warm-up
    streams : how many streams are joined
    """

    arrivals: Arrivals
    numbers: np.ndarray
    warm_up: int
    streams: int

    def results(self, local) -> np.ndarray:
        """Results of joining ``arrivals``, in arrival numbers of the whole and without those of the warm-up."""
        local = np.asarray(local, dtype=np.int64).reshape(-1, self.streams)
        return self.numbers[local[local.max(axis=1) >= self.warm_up]]

    def overflows(self, windows: Windows) -> int:
        """Those that arrivals [a, b) cause: they add up to those of the whole, too."""
        return count_overflows(self.arrivals, windows) - count_overflows(self.arrivals[: self.warm_up], windows)


def cut(source: Source, windows: Windows, a: int, b: int) -> Segment:
    """The segment of arrivals [a, b) of the source, 0 <= a <= b."""
    if not 0 <= a <= b:
        raise ValueError(f"arrivals [{a}, {b}) are no segment: give 0 <= a <= b")
    own = source.slice(a, b)
    now = int(own.times[0]) if windows.spans is not None and len(own) else None
    start, past = _look_back(source, windows, a, now)
    kept = np.append(can_be_met(past, windows, now), np.ones(len(own), bool))
    return Segment(
        arrivals=source.slice(start, a + len(own))[kept],
        numbers=start + np.flatnonzero(kept),
        warm_up=int(np.count_nonzero(kept)) - len(own),
        streams=windows.streams,
    )


def can_be_met(past: Arrivals, windows: Windows, now: int | None) -> np.ndarray:
    """Which of the past can be met by what arrives at the time ``now`` or later.

    None where windows count tuples; where they do not, it means that nothing comes.
    """
    if windows.spans is None:
        met = np.zeros(len(past), bool)
        for stream, room in enumerate(windows.rooms):
            met[np.flatnonzero(past.stream == stream)[-room:]] = True
        return met
    if now is None:
        return np.zeros(len(past), bool)
    spans = np.array([min(span, LAST) for span in windows.spans])
    return now - past.times < spans[past.stream]


def _look_back(source: Source, windows: Windows, a: int, now: int | None) -> tuple[int, Arrivals]:
    """Arrivals [start, a) with all of them that can be met, going back no further than about twice as far as needed."""
    reach = sum(windows.rooms)
    while True:
        start = max(0, a - reach)
        past = source.slice(start, a)
        if start == 0 or _is_enough(past, windows, now):
            return start, past
        reach *= 2


def _is_enough(past: Arrivals, windows: Windows, now: int | None) -> bool:
    """Whether nothing before these can be met."""
    if windows.spans is None:
        return bool(np.all(np.bincount(past.stream, minlength=windows.streams) >= windows.rooms))
    return now is None or now - int(past.times[0]) >= max(windows.spans)
