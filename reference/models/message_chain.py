"""A chain of cores that send each other messages, run under any schedule: what the asynchronous protocols share.

R tuples enter at core 0 and travel to the right, S tuples enter at the last core and travel to the left. Each core has
one queue of messages from its left and one from its right. A driver at both ends knows the windows: it lets tuples in
at one end and tells the other end when they expire. Which of the messages that wait is handled next, and when the next
tuple is let in, is not defined: a protocol is right if its result is right under every schedule.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from streamjoin.reference.arrivals import Arrivals, Row, Windows
from streamjoin.reference.predicates import Predicate

R, S = 0, 1


class DeadlockError(RuntimeError):
    """Nothing can happen any more, and something is left to be done."""


@dataclass(frozen=True)
class Traveller:
    """A tuple on its way: its arrival number, its place among the tuples of its stream, and what it carries."""

    number: int
    place: int
    row: Row


class Driver:
    """Decides what arrives and what expires: count-based windows, or time-based ones with room for so many."""

    def __init__(self, arrivals: Arrivals, windows: Windows):
        windows.check(arrivals)
        self._windows = windows
        self._coming = deque(enumerate(arrivals.rows()))
        self._live: tuple[deque[Traveller], deque[Traveller]] = (deque(), deque())
        self._places = [0, 0]

    @property
    def done(self) -> bool:
        return not self._coming

    def next(self) -> tuple[Traveller, list[Traveller]]:
        """The tuple that comes next, and those that expire because of it, oldest first."""
        number, row = self._coming[0]
        newcomer = Traveller(number, self._places[row.stream], row)
        expiring = []
        for stream, live in enumerate(self._live):
            crowded = len(live) + (stream == row.stream) - self._windows.rooms[stream]
            expiring += [
                old for rank, old in enumerate(live) if rank < crowded or not self._windows.is_young(old.row, row)
            ]
        return newcomer, sorted(expiring, key=lambda old: old.number)

    def admit(self) -> tuple[Traveller, list[Traveller]]:
        """As :meth:`next`, and so it happens."""
        newcomer, expiring = self.next()
        self._coming.popleft()
        for old in expiring:
            self._live[old.row.stream].popleft()
        self._live[newcomer.row.stream].append(newcomer)
        self._places[newcomer.row.stream] += 1
        return newcomer, expiring

    def live(self, stream: int) -> int:
        """How many tuples of a stream there are."""
        return len(self._live[stream])

    def retire(self, stream: int) -> None:
        """The oldest tuple of a stream expires without a newcomer."""
        self._live[stream].popleft()


class MessageChain(ABC):
    """Queues, driver and schedule; a protocol says what cores do with messages.

    Attributes
    ----------
    from_left, from_right
        For each core the messages that wait there.
    results
        What was found so far: the arrival numbers of both tuples.
    """

    def __init__(self, cores: int, arrivals: Arrivals, predicate: Predicate, windows: Windows):
        if cores < 1:
            raise ValueError(f"a chain needs at least one core, not {cores}")
        self.cores = cores
        self.from_left: list[deque] = [deque() for _ in range(cores)]
        self.from_right: list[deque] = [deque() for _ in range(cores)]
        self.results: list[tuple[int, int]] = []
        self._driver = Driver(arrivals, windows)
        self._predicate = predicate

    def run(self, choose: Callable[[int], int]) -> list[tuple[int, int]]:
        """Do one thing after the other until all is done; ``choose(n)`` picks one of ``n`` that could be next."""
        while actions := list(self.actions()):
            actions[choose(len(actions))]()
        if not self._driver.done or any(self.from_left) or any(self.from_right):
            raise DeadlockError("messages wait for each other")
        return self.results

    def actions(self) -> Iterator[Callable[[], None]]:
        """All that could happen next."""
        if not self._driver.done and self.may_admit():
            yield self._admit
        for core in range(self.cores):
            if self.from_left[core] and self.may_take_left(core):
                yield partial(self._take, self.from_left, self.take_left, core)
            if self.from_right[core] and self.may_take_right(core):
                yield partial(self._take, self.from_right, self.take_right, core)

    def may_admit(self) -> bool:
        """Whether the next tuple can be let in."""
        return True

    def may_take_left(self, core: int) -> bool:
        """Whether the first message from the left can be handled now."""
        return True

    def may_take_right(self, core: int) -> bool:
        """Whether the first message from the right can be handled now."""
        return True

    @abstractmethod
    def admit(self, newcomer: Traveller, expiring: list[Traveller]) -> None:
        """Let ``newcomer`` in, and tell of those that expire because of it."""

    @abstractmethod
    def take_left(self, core: int, message) -> None:
        """Handle a message from the left."""

    @abstractmethod
    def take_right(self, core: int, message) -> None:
        """Handle a message from the right."""

    def compare(self, r: Traveller, s: Traveller) -> None:
        """The two meet: a result, if the predicate holds."""
        if self._predicate.holds(r.row, s.row):
            self.results.append((r.number, s.number))

    def send_right(self, core: int, message) -> None:
        """To the right neighbour; past the last core it is gone."""
        if core + 1 < self.cores:
            self.from_left[core + 1].append(message)

    def send_left(self, core: int, message) -> None:
        """To the left neighbour; past the first core it is gone."""
        if core > 0:
            self.from_right[core - 1].append(message)

    def _admit(self) -> None:
        self.admit(*self._driver.admit())

    def _take(self, queues: list[deque], handler: Callable, core: int) -> None:
        handler(core, queues[core].popleft())
