"""Low-latency handshake join as our hardware does it: bounded queues, and marks that ride on tuples.

The protocol is that of :mod:`streamjoin.reference.models.llhj`, with less to send. Homes go round: the tuple at place p
of its stream rests at core p mod cores, in row p div cores. So a place says where a tuple is, and a *mark*, the number
of tuples that have come so far, says which of those that rest at a core are meant. S carries two of them:

- how many of R had expired when it was let in, instead of messages that tell of an expiry;
- how many of R had ended their expedition when the last core handled it, instead of messages that tell of an end. The
  last core knows that at once, as it must.

R carries how many of S had expired. Where no tuple comes, marks travel alone. Rows are used again: the driver lets a
tuple in only if the mark that came out at the far end of the other direction says that all cores know that what was in
its row has expired. For that no more is needed than one row more than the window fills.

An acknowledgement is sent only for a tuple that the neighbour keeps in flight, which is a fresh one.

Why nothing waits for itself, with queues of any depth. What goes to the right waits for room further right, and at the
last core for nothing: the end of an expedition is a mark that is kept there. What goes to the left waits for room
further left, for room on the right where it leaves an acknowledgement, and for an acknowledgement that comes from the
left, all of which the flow to the right makes, and that flow does not wait for this one. The driver waits until tuples
have come through.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.models.message_chain import MessageChain, R, S, Traveller
from streamjoin.reference.predicates import Predicate


@dataclass(frozen=True)
class Rightward:
    """R, or None, and how many of S have expired."""

    r: Traveller | None
    expired: int


@dataclass(frozen=True)
class Leftward:
    """S, or None; how many of R have expired, and, from the last core on, how many have ended their expedition."""

    s: Traveller | None
    expired: int
    ended: int = 0


_ACKNOWLEDGEMENT = None


class ExpeditionChain(MessageChain):
    """The protocol with room for ``depth`` messages in each queue and ``flight`` unacknowledged tuples in each core."""

    def __init__(
        self, cores: int, arrivals: Arrivals, predicate: Predicate, windows: Windows, depth: int = 1, flight: int = 1
    ):
        super().__init__(cores, arrivals, predicate, windows)
        self._depth = depth
        self._flight = flight
        self._rows = [-(-room // cores) + 1 for room in windows.rooms]
        self._resting: list[list[list[Traveller | None]]] = [
            [[None] * rows for _ in range(cores)] for rows in self._rows
        ]
        self._stored = [[0] * cores for _ in (R, S)]
        self._in_flight: list[deque[Traveller]] = [deque() for _ in range(cores)]
        # Marks by stream: expired by the driver's count, told, and known to all cores; ended.
        self._expired = [0, 0]
        self._told = [0, 0]
        self._known = [0, 0]
        self._ended = [0, 0]

    def actions(self) -> Iterator[Callable[[], None]]:
        yield from super().actions()
        if self._expired[S] > self._told[S] and self._has_room(self.from_left, 0):
            yield self._tell_left
        if self._expired[R] > self._told[R] and self._has_room(self.from_right, self.cores - 1):
            yield self._tell_right

    def may_admit(self) -> bool:
        newcomer, expiring = self._driver.next()
        stream = newcomer.row.stream
        entrance = (self.from_left, 0) if stream == R else (self.from_right, self.cores - 1)
        return (
            self._has_room(*entrance)
            and newcomer.place < self._known[stream] + self._rows[stream] * self.cores
            and all(old.place < self._ended[old.row.stream] for old in expiring)
        )

    def admit(self, newcomer: Traveller, expiring: list[Traveller]) -> None:
        for old in expiring:
            self._expired[old.row.stream] = old.place + 1
        if newcomer.row.stream == R:
            self._tell_left(newcomer)
        else:
            self._tell_right(newcomer)

    def may_take_left(self, core: int) -> bool:
        return self.from_left[core][0] is _ACKNOWLEDGEMENT or self._may_send_right(core)

    def may_take_right(self, core: int) -> bool:
        s = self.from_right[core][0].s
        if s is None:
            return self._may_send_left(core)
        leaves_acknowledgement = self._home(s) <= core and core + 1 < self.cores
        return (
            self._may_send_left(core)
            and not (leaves_acknowledgement and not self._may_send_right(core))
            and not (self._home(s) < core and len(self._in_flight[core]) == self._flight)
        )

    def take_left(self, core: int, message: Rightward | None) -> None:
        if not isinstance(message, Rightward):
            self._in_flight[core].popleft()
            return
        if (r := message.r) is not None:
            for s in self._in_flight[core]:
                self.compare(r, s)
            for s in self._between(S, core, message.expired, self._stored[S][core]):
                self.compare(r, s)
            self._store(core, r)
        self.send_right(core, message)
        if core == self.cores - 1:
            self._known[S] = message.expired
            self._ended[R] += r is not None

    def take_right(self, core: int, message: Leftward) -> None:
        if core == self.cores - 1:
            message = replace(message, ended=self._ended[R])
        if (s := message.s) is not None:
            for r in self._between(R, core, message.expired, message.ended):
                self.compare(r, s)
            self._store(core, s)
            if self._home(s) < core:
                self._in_flight[core].append(s)
            if self._home(s) <= core:
                self.send_right(core, _ACKNOWLEDGEMENT)
        self.send_left(core, message)
        if core == 0:
            self._known[R] = message.expired
            self._ended[S] += s is not None

    def _tell_left(self, r: Traveller | None = None) -> None:
        self._told[S] = self._expired[S]
        self.from_left[0].append(Rightward(r, self._expired[S]))

    def _tell_right(self, s: Traveller | None = None) -> None:
        self._told[R] = self._expired[R]
        self.from_right[-1].append(Leftward(s, self._expired[R]))

    def _home(self, traveller: Traveller) -> int:
        return traveller.place % self.cores

    def _store(self, core: int, traveller: Traveller) -> None:
        if self._home(traveller) == core:
            stream = traveller.row.stream
            self._resting[stream][core][traveller.place // self.cores % self._rows[stream]] = traveller
            self._stored[stream][core] = traveller.place + 1

    def _between(self, stream: int, core: int, first: int, end: int) -> Iterator[Traveller]:
        """What rests at a core of the places from ``first`` to before ``end``."""
        for place in range(first + (core - first) % self.cores, end, self.cores):
            resting = self._resting[stream][core][place // self.cores % self._rows[stream]]
            if resting is None or resting.place != place:
                raise LookupError(f"place {place} is asked for where {resting} rests")
            yield resting

    def _may_send_right(self, core: int) -> bool:
        return core + 1 == self.cores or self._has_room(self.from_left, core + 1)

    def _may_send_left(self, core: int) -> bool:
        return core == 0 or self._has_room(self.from_right, core - 1)

    def _has_room(self, queues: list[deque], core: int) -> bool:
        return len(queues[core]) < self._depth
