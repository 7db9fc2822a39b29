"""Hash windows in plain Python: tuples stay where they arrive, buckets are chains of links, and nothing is cleared.

Each stream has a window: a ring of places, more than the window has tuples, in which tuple number n lies at place
n mod places until another one comes round. A head table knows for each bucket the number of its youngest tuple, with
``laps`` bits more than a place has; each tuple has a link, how far back the next older one of its bucket is. An
arriving tuple reads the other stream's heads and begins to walk there from tuple to tuple; then it enters its own
window. Walks take their time, and more tuples arrive meanwhile.

Why a walk sees each partner once. Its places fall with each step, so it sees none twice and ends. It ends where the
next place is not in the window as it was when the walk began: so it sees only tuples that came since the reset, and
before its own. The tuples of its bucket in that window are linked one to the other. Numbers wrap round: a head that was
written long ago, or before the reset, may look like a place in the window, and lead into the chain of another bucket;
but then there is no tuple of its own bucket in the window, and in another one nothing is found. With two banks that
chain may be one that the same tuple walks on behalf of the other bank; so a tuple counts only in the bank to which its
key belongs (:class:`KeyGroups`).

Links are checked when they are written: one that leads out of the window is none. That is no matter of right or wrong,
for such a link is either found to lead too far, or, its upper bits being cut off, leads to some older tuple of the
window, of another bucket: it is a matter of visits in vain.

What must hold is the slack. A walk may visit all that was in the window when it began; so no more tuples may arrive
until it ends than there are places beyond the window. The guard counts arrivals in epochs; an epoch does not begin
before all walks of the one before the last have ended. So no more than two epochs' tuples arrive while a walk lasts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import NamedTuple

from streamjoin.reference.arrivals import Arrivals, Row, Windows
from streamjoin.reference.key_ranges import closed
from streamjoin.reference.models.message_chain import R
from streamjoin.reference.predicates import Predicate


@dataclass(frozen=True)
class KeyGroups:
    """Keys in groups so wide that all partners of a key lie in two neighbouring ones: one in each of two banks.

    ``lo <= r.key - s.key <= hi`` wherever the predicate holds. If that is one distance, a group is one key and there is
    one bank. A group is a pair: its bank and its number there.
    """

    lo: int
    hi: int

    @classmethod
    def of(cls, predicate: Predicate) -> "KeyGroups":
        ranges = closed(predicate.key_ranges)
        if not ranges:
            raise ValueError(f"{predicate.spec} does not bound how far keys are apart")
        return cls(ranges[0][0], ranges[-1][1])

    @property
    def banks(self) -> int:
        return 1 if self.lo == self.hi else 2

    @property
    def shift(self) -> int:
        """Groups are of 2^shift keys, at least as many as ``hi - lo``."""
        return max(0, (self.hi - self.lo - 1).bit_length())

    def group(self, key: int) -> tuple[int, int]:
        """Where a tuple is stored."""
        return (0, key) if self.banks == 1 else ((key >> self.shift) & 1, key >> self.shift + 1)

    def ends(self, stream: int, key: int) -> tuple[int, int]:
        """The least and the greatest key that a partner of this tuple can have."""
        return (key - self.hi, key - self.lo) if stream == R else (key + self.lo, key + self.hi)

    def wanted(self, stream: int, key: int) -> set[tuple[int, int]]:
        """Where a tuple finds its partners, at most one group in each bank."""
        return {self.group(end) for end in self.ends(stream, key)}


def bucket_of(number: int, buckets: int) -> int:
    """Some hash function."""
    return (number * 0x9E3779B1 >> 7) % buckets


class Entry(NamedTuple):
    """A tuple as it is stored: its arrival number and its fields."""

    arrival: int
    row: Row


class Link(NamedTuple):
    """Whether there is an older tuple of the bucket, and how many came between."""

    some: bool
    gap: int


@dataclass
class Walk:
    """What one tuple has still to look at in one bank: a place, and how many of its window lie beyond that."""

    probe: Entry
    bank: int
    place: int
    left: int
    epoch: int


@dataclass
class Counts:
    """What explains the performance.

    ``walks`` with a first place, ``visits`` of places, how many of them ``in_vain``, and how often a tuple could have
    arrived but was ``held_back`` by the guard.
    """

    walks: int = 0
    visits: int = 0
    in_vain: int = 0
    held_back: int = 0


class HashWindow:
    """One stream's window, and the walks in it. Its memories start with arbitrary contents.

    Parameters
    ----------
    slack
        Places beyond the window, from 2 up.
    buckets
        Of each bank.
    laps
        Bits of a number beyond those of a place, which are rounded up.
    guarded, checked
        Whether the guard holds tuples back, and links are checked when they are written.
    """

    def __init__(
        self,
        window: int,
        groups: KeyGroups,
        random: Random,
        *,
        slack: int,
        buckets: int,
        laps: int,
        guarded: bool,
        checked: bool,
    ):
        self._window, self._groups, self._buckets = window, groups, buckets
        self._places = 1 << (window + slack - 1).bit_length()
        self._numbers = self._places << laps
        self._epoch = (self._places - window) // 2
        self._guarded, self._checked = guarded, checked
        self._heads = [[random.randrange(self._numbers) for _ in range(buckets)] for _ in range(groups.banks)]
        self._links = [Link(random.random() < 0.9, random.randrange(self._places)) for _ in range(self._places)]
        self._tuples = [Entry(-1, Row(0, random.randrange(4), time=0)) for _ in range(self._places)]
        self.counts = Counts()
        self.reset()

    def reset(self) -> None:
        """Forget how many tuples there are, and all walks."""
        self.walks: list[Walk] = []
        self._number, self._live = 0, 0
        self._now, self._passed = 0, 0

    def may_enter(self) -> bool:
        """Whether a tuple may be stored: not if an epoch is over while walks of the one before are under way."""
        held_back = self._guarded and self._passed == self._epoch and any(walk.epoch < self._now for walk in self.walks)
        self.counts.held_back += held_back
        return not held_back

    def enter(self, entry: Entry) -> None:
        """Store a tuple."""
        bank, group = self._groups.group(entry.row.key)
        bucket = bucket_of(group, self._buckets)
        gap = self._gap(self._heads[bank][bucket])
        place = self._number % self._places
        self._links[place] = Link(gap < self._live or not self._checked, gap % self._places)
        self._tuples[place] = entry
        self._heads[bank][bucket] = self._number
        self._number = (self._number + 1) % self._numbers
        self._live = min(self._live + 1, self._window)
        if self._passed == self._epoch:
            self._now, self._passed = self._now + 1, 0
        self._passed += 1

    def begin(self, probe: Entry) -> None:
        """Begin the walks of a tuple of the other stream."""
        for bank, group in sorted(self._groups.wanted(probe.row.stream, probe.row.key)):
            head = self._heads[bank][bucket_of(group, self._buckets)]
            gap = self._gap(head)
            if gap < self._live:
                self.counts.walks += 1
                self.walks.append(Walk(probe, bank, head % self._places, self._live - gap - 1, self._now))

    def visit(self, walk: Walk) -> Entry | None:
        """Let a walk visit a place and go on, or end; what it saw, if that belongs to its bank."""
        entry, link = self._tuples[walk.place], self._links[walk.place]
        self.counts.visits += 1
        walk.left -= link.gap + 1
        walk.place = (walk.place - link.gap - 1) % self._places
        if not link.some or walk.left < 0:
            self.walks.remove(walk)
        return entry if self._groups.group(entry.row.key)[0] == walk.bank else None

    def _gap(self, number: int) -> int:
        """How many tuples came after this one, as far as numbers tell."""
        return (self._number - number - 1) % self._numbers


class HashJoin:
    """Both windows, run under any schedule.

    Parameters
    ----------
    random
        Draws what the memories hold before anything is written.
    slack, buckets, laps, guarded, checked
        As of :class:`HashWindow`.
    """

    def __init__(
        self,
        predicate: Predicate,
        windows: Windows,
        random: Random,
        *,
        slack: int = 4,
        buckets: int = 4,
        laps: int = 1,
        guarded: bool = True,
        checked: bool = True,
    ):
        self._predicate, self._windows = predicate, windows
        groups = KeyGroups.of(predicate)
        self.windows = [
            HashWindow(room, groups, random, slack=slack, buckets=buckets, laps=laps, guarded=guarded, checked=checked)
            for room in windows.rooms
        ]

    @property
    def counts(self) -> Counts:
        """Of both windows."""
        one, other = (window.counts for window in self.windows)
        return Counts(*(getattr(one, name) + getattr(other, name) for name in vars(one)))

    def run(self, arrivals: Arrivals, choose: Callable[[int], int], steps: int | None = None) -> list[tuple[int, int]]:
        """Reset, and join these arrivals: ``choose(n)`` picks one of ``n`` things that could be next.

        With ``steps`` that is all, and the rest is left undone. Memories stay as they are, for the next run.
        """
        self._windows.check(arrivals)
        for window in self.windows:
            window.reset()
        self._coming = [Entry(number, row) for number, row in enumerate(arrivals.rows())][::-1]
        self.results: list[tuple[int, int]] = []
        while (steps is None or steps > 0) and (actions := list(self._actions())):
            actions[choose(len(actions))]()
            steps = None if steps is None else steps - 1
        return self.results

    def _actions(self) -> Iterator[Callable[[], None]]:
        if self._coming and self.windows[self._coming[-1].row.stream].may_enter():
            yield self._arrive
        for window in self.windows:
            for walk in window.walks:
                yield partial(self._visit, window, walk)

    def _arrive(self) -> None:
        entry = self._coming.pop()
        self.windows[1 - entry.row.stream].begin(entry)
        self.windows[entry.row.stream].enter(entry)

    def _visit(self, window: HashWindow, walk: Walk) -> None:
        seen, probe = window.visit(walk), walk.probe
        if seen is not None and self._windows.is_young(seen.row, probe.row):
            r, s = (seen, probe) if probe.row.stream != R else (probe, seen)
            if self._predicate.holds(r.row, s.row):
                self.results.append((r.arrival, s.arrival))
                return
        window.counts.in_vain += 1
