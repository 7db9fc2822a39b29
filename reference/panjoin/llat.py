"""Linked List Adaptive Table: partitions of any size in fixed memory (Pan and Jacobsen 2018, section III-B2)."""

from math import ceil

import numpy as np

from ..key_bounds import expand

EMPTY = -1  # the key of a place that holds no tuple: below every bound


class Llat:
    """Lists of tuples, each a chain of entries with room for a few more tuples than a partition has on average.

    There are 2P entries of ``capacity = ceil(room * sigma / P)`` tuples. A list begins with one entry; whenever its
    last entry has become full, it is linked to an unused one.

    *It never overflows.* With at most ``room`` tuples, entries that are full are at most ``room / capacity <= P /
    sigma``, and each of them asked for one more. So P lists need P + P / sigma <= 2P entries, however skewed.

    Lists that are cleared give their entries back, all but the first; the paper's pointer to the first unused entry
    never goes back, which will do only while lists do not split. Its deletion of single tuples is left out: subwindows
    expire as a whole.

    Parameters
    ----------
    room : tuples in all
    partitions : P
    sigma : how much larger an entry is than an even share, at least 1
    lists : how many lists there are at first; the first entry of list ``i`` is ``i``

    Members
    -------
    count : tuples of each list, by its first entry
    claimed : entries that were ever in use: the paper's PtrG
    """

    def __init__(self, room: int, partitions: int, sigma: float = 1.25, lists: int = 1):
        if not sigma >= 1:
            raise ValueError(f"sigma is {sigma}: give at least 1, so that all tuples find room")
        self.capacity = ceil(room * sigma / partitions)
        self.entries = 2 * partitions
        self.keys = np.empty(self.entries * self.capacity, np.int64)
        self.ids = np.empty_like(self.keys)
        self.head = np.empty(self.entries, np.int64)  # tuples in each entry
        self.next = np.empty(self.entries, np.int64)  # the entry that a full one is linked to
        self.last = np.empty(self.entries, np.int64)  # the last entry of a list, by its first
        self.count = np.empty(self.entries, np.int64)
        self.clear_all(lists)

    def clear_all(self, lists: int) -> None:
        """Begin again with empty lists."""
        self.keys.fill(EMPTY)
        self._reset(np.arange(self.entries))
        self._returned = np.empty(0, np.int64)
        self.claimed = lists

    def open(self, lists: int) -> np.ndarray:
        """New empty lists: their first entries."""
        return self._claim(lists)

    def append(self, lists: np.ndarray, keys: np.ndarray, ids: np.ndarray) -> np.ndarray:
        """Add tuples, at least one, to their lists; those of one list stand together. Returns the lists, in that order.

        ``rank`` is the place of a tuple counted from the beginning of the entry that was its list's last.
        """
        begin = np.flatnonzero(np.diff(lists, prepend=-1))
        added = np.diff(begin, append=len(lists))
        touched = lists[begin]
        last = self.last[touched]
        filled = self.head[last]
        links, link = self._lengthen(last, filled + added)

        rank = np.arange(len(lists)) - np.repeat(begin - filled, added)
        entry = links[np.repeat(link, added) + rank // self.capacity]
        place = entry * self.capacity + rank % self.capacity
        self.keys[place], self.ids[place] = keys, ids
        self.last[touched] = links[np.append(link[1:], len(links)) - 1]
        self.count[touched] += added
        return touched

    def _lengthen(self, last: np.ndarray, filled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Entries for lists whose last one will hold ``filled`` tuples, if it could: for each list that last one and
        then those it is linked to, and where in all these each list begins."""
        more = filled // self.capacity
        link = np.cumsum(more + 1) - (more + 1)
        links = np.repeat(last, more + 1)
        fresh = np.ones(len(links), bool)
        fresh[link] = False
        links[fresh] = self._claim(int(more.sum()))
        depth = np.arange(len(links)) - np.repeat(link, more + 1)
        self.head[links] = np.clip(np.repeat(filled, more + 1) - self.capacity * depth, 0, self.capacity)
        self.next[links[:-1][fresh[1:]]] = links[1:][fresh[1:]]
        return links, link

    def _claim(self, entries: int) -> np.ndarray:
        again, self._returned = self._returned[:entries], self._returned[entries:]
        fresh = np.arange(self.claimed, self.claimed + entries - len(again))
        self.claimed += len(fresh)
        if self.claimed > self.entries:
            raise AssertionError(f"{self.claimed} entries are needed where {self.entries} always do")
        return np.concatenate([again, fresh])

    def walk(self, lists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All entries of some lists: the row of the list, which ascends, and the entry, in the order of the links."""
        rows, entries = [np.arange(len(lists))], [lists]
        while len(entries[-1]):
            following = self.next[entries[-1]]
            goes_on = following >= 0
            rows.append(rows[-1][goes_on])
            entries.append(following[goes_on])
        row, entry = np.concatenate(rows), np.concatenate(entries)
        order = np.argsort(row, kind="stable")
        return row[order], entry[order]

    def places(self, entries: np.ndarray):
        """Where the tuples of some entries are: blocks of (row of the entry, place), in order."""
        first = entries * self.capacity
        return expand(first, first + self.head[entries])

    def clear(self, lists: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Empty some lists: returns the keys and ids that were in them, list after list."""
        _, entries = self.walk(lists)
        place = np.concatenate([np.empty(0, np.int64), *(place for _, place in self.places(entries))])
        keys, ids = self.keys[place], self.ids[place]
        self.keys[place] = EMPTY
        self._reset(entries)
        self._returned = np.concatenate([self._returned, np.setdiff1d(entries, lists)])
        return keys, ids

    def _reset(self, entries: np.ndarray) -> None:
        self.head[entries] = 0
        self.next[entries] = -1
        self.last[entries] = entries
        self.count[entries] = 0
