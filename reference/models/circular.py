"""Circular multi-way join, Najafi et al. 2018: a ring of stages, one for each stream, in the form that loses nothing.

Stage j holds the window of stream j. A new tuple is stored at the stage of its stream and sent to the next one, which
scans its window for tuples that go with it; each one found makes an intermediate result, which goes on to the stage
after that, until it has passed all stages but its own. A combination of *depth* d has d tuples.

Order control. Each arrival has a number, and all stages hear of all arrivals in their order. So each stage knows, for
every arrival in flight, which of its tuples were in the window then: with this *view* all combinations of that arrival
are compared, whenever they come. Tuples stored since are passed over (the paper's refining), tuples pushed out of the
window since are still there and still compared (its re-computing). No more than ``flight`` arrivals are under way,
counted from the oldest that is not complete: so a stage that keeps ``flight`` tuples beyond its window has them all.

Why each result comes once. The arriving tuple of a result is its latest, and starts it at one stage; each further stage
adds one of the tuples that its view of that arrival shows, each of them once.

When an arrival is complete. Each stage has a buffer and a scan of its own for each depth. What is of one depth at one
stage is of one stream of origin, so all that comes of a stream passes the same buffers and scans, first in, first out.
Therefore an end that follows the last intermediate result of an arrival comes out of the last stage after all of them.

Why it cannot deadlock. A scan waits for room in one buffer only: that of the next depth at the next stage. Scans of the
greatest depth give results, and wait for nobody. So if something is under way, take what is deepest: it can go on. That
needs a scan for each depth: the paper's single one, when it is blocked on its output, keeps deeper combinations
waiting, and round the ring that can be a circle: with ``contexts="one"`` the model gets stuck.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.models.message_chain import DeadlockError
from streamjoin.reference.predicates import Predicate


class Message(NamedTuple):
    """A combination on its way round the ring.

    ``arrival`` is the number of its latest tuple, ``members`` those of its tuples in the order of the ring, without any
    if this is but an end; ``last`` says that nothing further comes of this arrival.
    """

    arrival: int
    members: tuple[int, ...]
    last: bool


class Scan(NamedTuple):
    """A message at a stage, and which tuple of its stream it is compared with next."""

    message: Message
    at: int


class State(NamedTuple):
    """All there is to know: the rest follows from the arrivals. Queues and scans are by stage and depth - 1."""

    admitted: int
    queues: tuple[tuple[tuple[Message, ...], ...], ...]
    scans: tuple[tuple[Scan | None, ...], ...]
    complete: tuple[int, ...]
    results: tuple[tuple[int, ...], ...]


@dataclass
class Counts:
    """What explains the performance.

    ``comparisons`` of each depth, ``refined`` tuples that were stored after the arrival and passed over, ``recomputed``
    ones that had left the window since and were compared all the same.
    """

    comparisons: list[int]
    refined: int = 0
    recomputed: int = 0


class CircularRing:
    """The protocol, as a relation between states.

    Parameters
    ----------
    buffer
        Messages that may wait at a stage, for each depth.
    flight
        Arrivals under way, counted from the oldest that is not complete.
    contexts
        ``"each"`` depth has a scan of its own at a stage, or ``"one"`` scan serves all.
    """

    def __init__(
        self,
        arrivals: Arrivals,
        predicate: Predicate,
        windows: Windows,
        *,
        buffer: int = 1,
        flight: int = 4,
        contexts: str = "each",
    ):
        windows.check(arrivals)
        self.streams = windows.streams
        self.counts = Counts([0] * (self.streams - 1))
        self._rows = list(arrivals.rows())
        self._predicate = predicate
        self._windows = windows
        self._buffer = buffer
        self._flight = flight
        self._contexts = contexts
        self._stored = [[n for n, row in enumerate(self._rows) if row.stream == s] for s in range(self.streams)]

    @property
    def start(self) -> State:
        depths = self.streams - 1
        return State(0, (((),) * depths,) * self.streams, ((None,) * depths,) * self.streams, (0,) * self.streams, ())

    def run(self, choose: Callable[[int], int]) -> list[tuple[int, ...]]:
        """Do one thing after the other until all is done; ``choose(n)`` picks one of ``n`` that could be next."""
        state = self.start
        while moves := list(self.moves(state)):
            state = moves[choose(len(moves))]()
        self.check_end(state)
        return list(state.results)

    def check_end(self, state: State) -> None:
        """DeadlockError if nothing can happen in this state although something is left to be done."""
        if sum(state.complete) < len(self._rows):
            raise DeadlockError("messages wait for each other")

    def moves(self, state: State) -> Iterator[Callable[[], State]]:
        """All that could happen next."""
        if state.admitted < len(self._rows) and state.admitted - self._oldest(state) < self._flight:
            yield partial(self._admit, state)
        for stage in range(self.streams):
            free = self._contexts == "each" or not any(state.scans[stage])
            for depth in range(1, self.streams):
                scan = state.scans[stage][depth - 1]
                if scan is None:
                    if state.queues[stage][depth - 1] and free:
                        yield partial(self._begin, state, stage, depth)
                elif not self._gives(scan, stage) or self._has_room(state, stage, depth):
                    yield partial(self._go_on, state, stage, depth)

    def _oldest(self, state: State) -> int:
        """The first arrival that is not complete."""
        ahead = [stored[done] for stored, done in zip(self._stored, state.complete, strict=True) if done < len(stored)]
        return min(ahead, default=len(self._rows))

    def _has_room(self, state: State, stage: int, depth: int) -> bool:
        """Whether a message of this depth, when it has grown by one, finds room at the next stage."""
        if depth == self.streams - 1:
            return True
        return len(state.queues[(stage + 1) % self.streams][depth]) < self._buffer

    def _admit(self, state: State) -> State:
        number = state.admitted
        stage = (self._rows[number].stream + 1) % self.streams
        state = state._replace(admitted=number + 1)
        return self._push(state, stage, 1, Message(number, (number,), last=True))

    def _begin(self, state: State, stage: int, depth: int) -> State:
        message, *rest = state.queues[stage][depth - 1]
        first, end = self._view(message.arrival, stage)
        if message.members:
            stored = sum(self._rows[n].stream == stage for n in range(state.admitted))
            if stored > first + self._windows.rooms[stage] + self._flight:
                raise LookupError(f"arrival {message.arrival} is compared with a tuple that has been overwritten")
            self.counts.comparisons[depth - 1] += end - first
            self.counts.refined += stored - end
            self.counts.recomputed += max(0, min(end, stored - self._windows.rooms[stage]) - first)
        scan = Scan(message, self._next_match(message, stage, first) if message.members else end)
        state = state._replace(queues=_put(state.queues, stage, depth, tuple(rest)))
        return state._replace(scans=_put(state.scans, stage, depth, scan))

    def _gives(self, scan: Scan, stage: int) -> bool:
        """Whether the next step of a scan sends something on."""
        return scan.at < self._view(scan.message.arrival, stage)[1] or scan.message.last

    def _go_on(self, state: State, stage: int, depth: int) -> State:
        scan = state.scans[stage][depth - 1]
        assert scan is not None
        message, at = scan
        if at < self._view(message.arrival, stage)[1]:
            after = Scan(message, self._next_match(message, stage, at + 1))
            grown = Message(message.arrival, (*message.members, self._stored[stage][at]), last=False)
        else:
            after = None
            grown = Message(message.arrival, (), last=True) if message.last else None
        state = state._replace(scans=_put(state.scans, stage, depth, after))
        if grown is None:
            return state
        if depth < self.streams - 1:
            return self._push(state, (stage + 1) % self.streams, depth + 1, grown)
        if grown.members:
            by_stream = tuple(sorted(grown.members, key=lambda number: self._rows[number].stream))
            return state._replace(results=tuple(sorted((*state.results, by_stream))))
        origin = (stage + 1) % self.streams
        complete = [done + (stream == origin) for stream, done in enumerate(state.complete)]
        return state._replace(complete=tuple(complete))

    def _push(self, state: State, stage: int, depth: int, message: Message) -> State:
        queue = (*state.queues[stage][depth - 1], message)
        return state._replace(queues=_put(state.queues, stage, depth, queue))

    def _view(self, arrival: int, stage: int) -> tuple[int, int]:
        """Which tuples of a stage's stream were in its window when the arrival came, as places in the stream."""
        stored = self._stored[stage]
        end = sum(number < arrival for number in stored)
        first = max(0, end - self._windows.rooms[stage])
        while first < end and not self._windows.is_young(self._rows[stored[first]], self._rows[arrival]):
            first += 1
        return first, end

    def _next_match(self, message: Message, stage: int, at: int) -> int:
        """The first tuple from ``at`` on that goes with the message, or the end of its view."""
        end = self._view(message.arrival, stage)[1]
        while at < end and not self._fits(message, stage, self._stored[stage][at]):
            at += 1
        return at

    def _fits(self, message: Message, stage: int, number: int) -> bool:
        """The predicate between neighbouring streams, as far as they are there; equal keys are equal to all."""
        holds, candidate = self._predicate.holds, self._rows[number]
        previous, origin = self._rows[message.members[-1]], self._rows[message.members[0]]
        if self._predicate.is_equi:
            return holds(previous, candidate)
        after_previous = stage == 0 or holds(previous, candidate)
        before_origin = stage == self.streams - 1 or origin.stream != stage + 1 or holds(candidate, origin)
        return after_previous and before_origin


def _put(table, stage: int, depth: int, value):
    """The table with one entry changed."""
    row = table[stage]
    row = (*row[: depth - 1], value, *row[depth:])
    return (*table[:stage], row, *table[stage + 1 :])


def explore(ring: CircularRing) -> tuple[int, set[State]]:
    """Every state that any schedule can lead to: how many there are, and those in which nothing can happen any more."""
    seen, ahead, ends = {ring.start}, [ring.start], set()
    while ahead:
        state = ahead.pop()
        following = {move() for move in ring.moves(state)}
        if not following:
            ends.add(state)
        ahead += following - seen
        seen |= following
    return len(seen), ends
