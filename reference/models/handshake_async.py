"""Handshake join with message queues, Teubner and Mueller 2011 section 4: two-phase forwarding and local balancing.

Tuples rest in the windows of the cores and move on when a core holds more of them than the neighbour that they go to.
R leaves its core when it is sent. S stays, *forwarded*, until the neighbour acknowledges it.

Why each pair meets exactly once. Both streams keep their order, so r and s, which come from opposite ends, pass each
other once: either both are in one core when the later of the two comes to it, and it scans the window in which the
other is; or they cross on the way between two cores, and then r, arriving at the right one, finds s there, forwarded
and not yet acknowledged, for the acknowledgement follows r. After it, whatever comes from the left has met s already.

Expiry. The driver says at the far end, between the arrivals that it says it of, that a tuple is to be removed: to the
last core for R, to the first one for S. There it is the oldest, since streams keep their order and those before it have
been removed in the same way. If the core is empty, the message waits, and with it what comes behind it. The tuple is
on its way then: a core that holds something gives it to a neighbour that holds nothing.

Draining. Windows at rest are not looked at: r and s that have not passed each other would not meet when arrivals end.
So the driver then removes all of R, one after the other, which takes every tuple of R through all cores.

Bounds. A core forwards no more than ``flight`` tuples of S that are not acknowledged, and no tuple for which the
neighbour has no room: what is under way counts as being there. So no message but a removal ever waits, and what a core
has to send in answer, an acknowledgement, is one of at most ``flight``: there is always room for it. A core has room
for its share of the window and of the removals that may wait at the far end, rounded up to more than that.

Why it cannot deadlock. Suppose that nothing can be done. If a removal waits at one end, no tuple of its stream is in a
core, or it would move; so the tuple waits at its own entrance, behind a removal of the other stream, whose tuple in
turn waits behind the first removal. But each tuple was let in before its removal, and each removal before the tuple
behind it: this is a circle in time. If no removal waits, no message waits. Then a tuple is let in if the first core of
its stream has room; and if it has none, no core has less in it than the one before, so all are full, and there are more
tuples than the window and the removals under way.
"""

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.models.message_chain import MessageChain, R, S, Traveller
from streamjoin.reference.predicates import Predicate

_REMOVAL = None


class AsynchronousHandshakeChain(MessageChain):
    """The protocol. A message is a tuple, or one that says that the oldest tuple of a core goes.

    Parameters
    ----------
    depth
        Messages that may wait at either end before no tuple is let in.
    flight
        Tuples of S that a core may have forwarded without being acknowledged.
    """

    def __init__(
        self,
        cores: int,
        arrivals: Arrivals,
        predicate: Predicate,
        windows: Windows,
        *,
        depth: int = 1,
        flight: int = 1,
    ):
        super().__init__(cores, arrivals, predicate, windows)
        self._depth = depth
        self._flight = flight
        self.rooms = [(room + depth) // cores + 1 for room in windows.rooms]
        self._windows = [[deque() for _ in range(cores)] for _ in (R, S)]
        self._forwarded = [0] * cores  # how many of the oldest of S
        self.most = [0, 0]

    def actions(self) -> Iterator[Callable[[], None]]:
        yield from super().actions()
        if self._driver.done and self._driver.live(R) and len(self.from_right[-1]) < self._depth:
            yield self._drain
        for core in range(self.cores - 1):
            if self._resting(R, core) and self._load(R, core + 1) < min(self._load(R, core), self.rooms[R]):
                yield partial(self._forward_r, core)
        for core in range(1, self.cores):
            may = self._resting(S, core) and self._forwarded[core] < self._flight
            if may and self._load(S, core - 1) < min(self._load(S, core), self.rooms[S]):
                yield partial(self._forward_s, core)

    def may_admit(self) -> bool:
        newcomer, _ = self._driver.next()
        stream = newcomer.row.stream
        entrance = 0 if stream == R else self.cores - 1
        ends = (self.from_left[0], self.from_right[-1])
        return all(len(end) < self._depth for end in ends) and self._load(stream, entrance) < self.rooms[stream]

    def admit(self, newcomer: Traveller, expiring: list[Traveller]) -> None:
        for old in expiring:
            (self.from_right[-1] if old.row.stream == R else self.from_left[0]).append(_REMOVAL)
        (self.from_left[0] if newcomer.row.stream == R else self.from_right[-1]).append(newcomer)

    def may_take_left(self, core: int) -> bool:
        return self.from_left[core][0] is not _REMOVAL or bool(self._windows[S][core])

    def may_take_right(self, core: int) -> bool:
        return self.from_right[core][0] is not _REMOVAL or bool(self._windows[R][core])

    def take_left(self, core: int, message: Traveller | None) -> None:
        if isinstance(message, Traveller):
            for s in self._windows[S][core]:
                self.compare(message, s)
            self._store(R, core, message)
        else:
            self._windows[S][core].popleft()
            if core:
                self._forwarded[core] -= 1

    def take_right(self, core: int, message: Traveller | None) -> None:
        if isinstance(message, Traveller):
            for r in self._windows[R][core]:
                self.compare(r, message)
            self._store(S, core, message)
            self.send_right(core, _REMOVAL)
        else:
            self._windows[R][core].popleft()

    def _resting(self, stream: int, core: int) -> int:
        return len(self._windows[stream][core]) - (self._forwarded[core] if stream == S else 0)

    def _load(self, stream: int, core: int) -> int:
        """What rests in a core and what is on its way to it."""
        coming = (self.from_left if stream == R else self.from_right)[core]
        return self._resting(stream, core) + sum(message is not _REMOVAL for message in coming)

    def _store(self, stream: int, core: int, message: Traveller) -> None:
        self._windows[stream][core].append(message)
        self.most[stream] = max(self.most[stream], len(self._windows[stream][core]))

    def _drain(self) -> None:
        self._driver.retire(R)
        self.from_right[-1].append(_REMOVAL)

    def _forward_r(self, core: int) -> None:
        self.send_right(core, self._windows[R][core].popleft())

    def _forward_s(self, core: int) -> None:
        self.send_left(core, self._windows[S][core][self._forwarded[core]])
        self._forwarded[core] += 1
