"""The window of one stream as a chain of subwindows (Pan and Jacobsen 2018, sections III-A and III-G)."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..key_bounds import LAST
from .answers import Answer
from .probe import Probe
from .subwindow import Subwindow
from .unsorted_buffer import UnsortedBuffer


@dataclass(eq=False)
class _Link:
    """A subwindow and what the chain knows of it.

    Parameters
    ----------
    first : id of its first tuple
    since : what is older belongs into an earlier subwindow
    late : tuples that came when a later subwindow had been begun, but are older than that
    last, newest : the greatest id and time in it
    """

    subwindow: Subwindow
    first: int
    since: int
    late: UnsortedBuffer = field(default_factory=UnsortedBuffer)
    last: int = -1
    newest: int = -LAST

    def note(self, ids: np.ndarray, times: np.ndarray) -> None:
        self.last = max(self.last, int(ids.max()))
        self.newest = max(self.newest, int(times.max()))


class Chain:
    """Subwindows in the order in which they were begun. Tuples go into the newest, the oldest expire as a whole.

    Ids count the tuples of the stream, from 0. The chain may hold tuples that have left the window, in its oldest
    subwindow and as slack for batches: whoever probes it filters.

    Parameters
    ----------
    make : an empty subwindow; one that has expired is used again
    """

    def __init__(self, make: Callable[[], Subwindow]):
        self._make = make
        self._links: deque[_Link] = deque()
        self._expired: list[Subwindow] = []
        self._newest = -LAST

    def __len__(self) -> int:
        """How many subwindows there are."""
        return len(self._links)

    @property
    def first(self) -> int | None:
        """The least id that is held, None if none is."""
        return self._links[0].first if self._links else None

    @property
    def late(self) -> int:
        """How many tuples are held in side buffers."""
        return sum(len(link.late) for link in self._links)

    def insert_batch(self, keys: np.ndarray, ids: np.ndarray, times: np.ndarray) -> None:
        """Take tuples in ascending order of keys; subwindows are begun as they are needed."""
        while len(ids):
            if not self._links or len(self._links[-1].subwindow) == self._links[-1].subwindow.room:
                self._begin(int(ids.min()))
            newest = self._links[-1]
            on_time = times >= newest.since
            room = newest.subwindow.room - len(newest.subwindow)
            now = np.ones(len(ids), bool)
            if np.count_nonzero(on_time) > room:
                # As many of those on time as there is room for, by arrival, and all that came late in between.
                now = ids < np.partition(ids[on_time], room)[room]
            self._put_aside(*(column[now & ~on_time] for column in (keys, ids, times)))
            taken = now & on_time
            if taken.any():
                newest.subwindow.insert_batch(keys[taken], ids[taken])
                newest.note(ids[taken], times[taken])
                self._newest = max(self._newest, newest.newest)
            keys, ids, times = keys[~now], ids[~now], times[~now]

    def _begin(self, first: int) -> None:
        subwindow = self._expired.pop() if self._expired else self._make()
        if self._links:
            subwindow.follow(self._links[-1].subwindow)
        self._links.append(_Link(subwindow, first, self._newest))

    def _put_aside(self, keys: np.ndarray, ids: np.ndarray, times: np.ndarray) -> None:
        """Late tuples into the side buffers of the subwindows to which they belong by their time, or of the oldest."""
        if not len(ids):
            return
        links = list(self._links)
        place = np.searchsorted([link.since for link in links[1:]], times, side="right")
        for number in np.unique(place).tolist():
            here = place == number
            links[number].late.add(keys[here], ids[here])
            links[number].note(ids[here], times[here])

    def probe_batch(self, probe: Probe) -> list[Answer]:
        """An answer from each subwindow, and from each side buffer that holds something."""
        answers = [link.subwindow.probe_batch(probe) for link in self._links]
        return answers + [Answer((link.late.probe(probe),)) for link in self._links if len(link.late)]

    def expire(self, before: int, until: int) -> None:
        """Drop the oldest subwindows as long as all their ids are below ``before``, or all times are at most ``until``.

        The newest stays: it is not yet full, or the next one will learn from it.
        """
        while len(self._links) > 1 and (self._links[0].last < before or self._links[0].newest <= until):
            subwindow = self._links.popleft().subwindow
            subwindow.expire()
            self._expired.append(subwindow)
