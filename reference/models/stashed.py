"""Stashed multi-way join of three streams, Najafi et al. 2018 section III, with what it takes to be exact.

Two stages. The first holds the windows of S1 and S2 and compares arrivals of either with the other; what it finds goes
on to the second stage, which holds the window of S3, and is also kept in the *stash*. An arrival of S3 then need not
find these pairs again: it is compared with the stash.

What is live. A pair is live while both its tuples are in their windows. The stash is a ring of ``room`` pairs in the
order in which they were found. The oldest are given up as soon as they are no longer live; others that no longer are
stay among the rest and are passed over, for with each pair goes the place of its tuples in their streams.

Overwriting. Where the ring is full, the oldest pair is overwritten. If it was live, it is *lost*: then the stash is no
longer complete, and arrivals of S3 are compared with the window of S2, and what goes with them with that of S1, as
without a stash. It is complete again when no lost pair is live. It is not necessary to remember them all for that: the
latest S1 and the latest S2 among them do. If one of the two has left its window, then each lost pair has lost a tuple.

Places wrap. Hardware knows them but for multiples of some power of two, so a pair that is not live could seem so when
its stream has gone round. Therefore every half turn of either stream, an *epoch*, the stash is emptied, and what was in
it counts as lost.

Why it is exact. Arrivals of S1 and S2 find all pairs that they complete, and these meet the window of S3; an arrival of
S3 meets the pairs that are live, found either in a complete stash or anew. The second stage has its own time, as the
stages of :mod:`circular` have, and keeps order in the same way.
"""

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from streamjoin.reference.arrivals import Arrivals, Row, Windows
from streamjoin.reference.predicates import Predicate

S1, S2, S3 = range(3)


class HeldTuple(NamedTuple):
    """A tuple in a window: its arrival number, its place in its stream, and what it carries."""

    number: int
    place: int
    row: Row


@dataclass
class Counts:
    """What explains the performance: ``comparisons`` in each stage and with the stash, and what the stash does.

    ``saved`` are the comparisons that answers from the stash did without; ``recomputed`` counts arrivals of S3 that
    were not answered from it, ``lost`` the live pairs that were overwritten or given up with an epoch.
    """

    first_stage: int = 0
    second_stage: int = 0
    stash: int = 0
    saved: int = 0
    answered: int = 0
    recomputed: int = 0
    lost: int = 0


class StashedJoin:
    """The algorithm, one arrival after the other.

    Parameters
    ----------
    room
        Pairs that fit in the stash, from 0 up.
    epoch
        Arrivals of S1 or of S2 after which the stash is emptied; ``None`` for never.
    """

    def __init__(
        self, arrivals: Arrivals, predicate: Predicate, windows: Windows, *, room: int, epoch: int | None = None
    ):
        windows.check(arrivals)
        if windows.streams != 3:
            raise ValueError(f"the stash is for three streams, not {windows.streams}")
        self.counts = Counts()
        self._arrivals = arrivals
        self._predicate = predicate
        self._windows = windows
        self._room = room
        self._epoch = epoch
        self._held = [deque(maxlen=room) for room in windows.rooms]
        self._places = [0, 0, 0]
        self._stash: deque[tuple[HeldTuple, HeldTuple]] = deque()
        self._lost: tuple[int, int] | None = None  # the latest places of S1 and S2 among lost pairs

    def run(self) -> list[tuple[int, ...]]:
        """All results, each once."""
        results = []
        for number, row in enumerate(self._arrivals.rows()):
            newcomer = HeldTuple(number, self._places[row.stream], row)
            results += self._find(newcomer)
            self._held[row.stream].append(newcomer)
            self._places[row.stream] += 1
            if self._epoch and row.stream != S3 and self._places[row.stream] % self._epoch == 0:
                for pair in self._stash:
                    self._lose(pair)
                self._stash.clear()
            self._give_up()
        return results

    def _find(self, newcomer: HeldTuple) -> list[tuple[int, ...]]:
        holds, now = self._predicate.holds, newcomer.row
        if now.stream == S3:
            return [(one.number, two.number, newcomer.number) for one, two in self._pairs_for(newcomer)]
        others = self._seen(1 - now.stream, now)
        self.counts.first_stage += len(self._held[1 - now.stream])
        ordered = [(newcomer, other) if now.stream == S1 else (other, newcomer) for other in others]
        pairs = [(one, two) for one, two in ordered if holds(one.row, two.row)]
        self.counts.second_stage += len(pairs) * len(self._held[S3])
        for pair in pairs:
            self._keep(pair)
        last = self._seen(S3, now)
        return [(one.number, two.number, z.number) for one, two in pairs for z in last if holds(two.row, z.row)]

    def _pairs_for(self, newcomer: HeldTuple) -> list[tuple[HeldTuple, HeldTuple]]:
        """The live pairs that go with an arrival of S3."""
        holds, now, counts = self._predicate.holds, newcomer.row, self.counts
        partners = [two for two in self._seen(S2, now) if holds(two.row, now)]
        anew = len(self._held[S2]) + len(partners) * len(self._held[S1])
        if self._room and self._lost is None:
            counts.answered += 1
            counts.stash += len(self._stash)
            counts.saved += anew - len(self._stash)
            return [
                (one, two)
                for one, two in self._stash
                if self._is_live((one, two)) and self._is_young(one, now) and self._is_young(two, now)
                if holds(two.row, now)
            ]
        counts.recomputed += 1
        counts.first_stage += anew
        return [(one, two) for two in partners for one in self._seen(S1, now) if holds(one.row, two.row)]

    def _seen(self, stream: int, now: Row) -> list[HeldTuple]:
        return [old for old in self._held[stream] if self._is_young(old, now)]

    def _is_young(self, old: HeldTuple, now: Row) -> bool:
        return self._windows.is_young(old.row, now)

    def _first(self, stream: int) -> int:
        """The place of the first tuple that is in a window."""
        return max(0, self._places[stream] - self._windows.rooms[stream])

    def _is_live(self, pair: tuple[HeldTuple, HeldTuple]) -> bool:
        return all(old.place >= self._first(stream) for stream, old in zip((S1, S2), pair, strict=True))

    def _keep(self, pair: tuple[HeldTuple, HeldTuple]) -> None:
        if not self._room:
            return
        if len(self._stash) == self._room:
            self._lose(self._stash.popleft())
        self._stash.append(pair)

    def _lose(self, pair: tuple[HeldTuple, HeldTuple]) -> None:
        if self._is_live(pair):
            self.counts.lost += 1
            latest = self._lost or (0, 0)
            one, two = (max(old.place, place) for old, place in zip(pair, latest, strict=True))
            self._lost = one, two

    def _give_up(self) -> None:
        """What is no longer live at the old end of the stash, and the memory of lost pairs of which none is."""
        while self._stash and not self._is_live(self._stash[0]):
            self._stash.popleft()
        if self._lost and any(place < self._first(stream) for stream, place in zip((S1, S2), self._lost, strict=True)):
            self._lost = None
