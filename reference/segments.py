"""Segments: parts of a join that are run apart from each other and together are the whole, each result once."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .arrivals import Arrivals, Windows


class Source(Protocol):
    """Where arrivals come from: `Arrivals` themselves, or anything that makes or reads a part of them."""

    def slice(self, start: int, stop: int) -> Arrivals:
        """Arrivals [start, stop)."""


@dataclass(frozen=True, eq=False)
class Segment:
    """Arrivals [a, b) and, before them, the tuples that are in a window when ``a`` arrives.

    The overflows of a segment are those that its arrivals [a, b) cause, so they too add up to those of the whole.

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


def cut(source: Source, windows: Windows, a: int, b: int) -> Segment:
    """The segment of arrivals [a, b) of the source, 0 <= a <= b."""
    if not 0 <= a <= b:
        raise ValueError(f"arrivals [{a}, {b}) are no segment: give 0 <= a <= b")
    own = source.slice(a, b)
    start, past = _look_back(source, windows, a, own)
    kept = np.zeros(len(past), bool)
    for stream, room in enumerate(windows.rooms):
        kept[np.flatnonzero(past.stream == stream)[-room:]] = True
    if windows.span is not None:
        kept &= _young(past, own, windows.span)
    kept = np.append(kept, np.ones(len(own), bool))
    return Segment(
        arrivals=source.slice(start, a + len(own))[kept],
        numbers=start + np.flatnonzero(kept),
        warm_up=int(np.count_nonzero(kept)) - len(own),
        streams=windows.streams,
    )


def _look_back(source: Source, windows: Windows, a: int, own: Arrivals) -> tuple[int, Arrivals]:
    """Arrivals [start, a) with all that windows can hold when ``a`` arrives, going back no further than about twice
    as far as needed."""
    reach = sum(windows.rooms)
    while True:
        start = max(0, a - reach)
        past = source.slice(start, a)
        full = np.all(np.bincount(past.stream, minlength=windows.streams) >= windows.rooms)
        rest_too_old = windows.span is not None and not np.all(_young(past, own, windows.span))
        if start == 0 or full or rest_too_old:
            return start, past
        reach *= 2


def _young(past: Arrivals, own: Arrivals, span: int) -> np.ndarray:
    """Which of the past are still within the span when the first own tuple arrives; none if there is no such."""
    return own.time[0] - past.time < span if len(own) else np.zeros(len(past), bool)
