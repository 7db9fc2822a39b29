"""Handshake join with message queues, paper 000 section 4: two-phase forwarding and local balancing.

Tuples rest in the windows of the cores and move on when a core holds more of them than the neighbour that they go to.
R leaves its core when it is sent. S stays, *forwarded*, until the neighbour acknowledges it.

Why each pair meets exactly once. Both streams keep their order, so r and s, which come from opposite ends, pass each
other once: either both are in one core when the later of the two comes to it, and it scans the window in which the
other is; or they cross on the way between two cores, and then r, arriving at the right one, finds s there, forwarded
and not yet acknowledged, for the acknowledgement follows r. After it, whatever comes from the left has met s already.

Expiry. The driver acknowledges in the neighbour's place: to the last core for R, to the first one for S. There both
streams stay, forwarded, until that message. It waits until the oldest tuple of the core is forwarded, which is the one
meant: those before it have been removed in the same way, and it arrives because the end core pulls. What waits behind
that message must wait, too: it came after the expiry.
"""

from collections import deque
from collections.abc import Callable, Iterator
from functools import partial

from .message_chain import MessageChain, R, S, Traveller

_REMOVAL = None


class AsynchronousHandshakeChain(MessageChain):
    """The protocol. A message is a tuple, or an acknowledgement, by which the oldest forwarded tuple is removed."""

    def __init__(self, *args):
        super().__init__(*args)
        self._windows = [[deque() for _ in range(self.cores)] for _ in (R, S)]
        self._forwarded = [[0] * self.cores for _ in (R, S)]  # how many of the oldest

    def actions(self) -> Iterator[Callable[[], None]]:
        yield from super().actions()
        for core in range(self.cores):
            for stream, neighbour in ((R, core + 1), (S, core - 1)):
                if self._resting(stream, core) > (
                    self._resting(stream, neighbour) if 0 <= neighbour < self.cores else 0
                ):
                    yield partial(self._forward, stream, core)

    def admit(self, newcomer: Traveller, expiring: list[Traveller]) -> None:
        for old in expiring:
            (self.from_right[-1] if old.row.stream == R else self.from_left[0]).append(_REMOVAL)
        (self.from_left[0] if newcomer.row.stream == R else self.from_right[-1]).append(newcomer)

    def may_take_left(self, core: int) -> bool:
        return self.from_left[core][0] is not _REMOVAL or self._forwarded[S][core] > 0

    def may_take_right(self, core: int) -> bool:
        return self.from_right[core][0] is not _REMOVAL or self._forwarded[R][core] > 0

    def take_left(self, core: int, message: Traveller | None) -> None:
        if message is _REMOVAL:
            self._remove(S, core)
        else:
            for s in self._windows[S][core]:
                self.compare(message, s)
            self._windows[R][core].append(message)

    def take_right(self, core: int, message: Traveller | None) -> None:
        if message is _REMOVAL:
            self._remove(R, core)
        else:
            for r in self._windows[R][core]:
                self.compare(r, message)
            self._windows[S][core].append(message)
            self.send_right(core, _REMOVAL)

    def _resting(self, stream: int, core: int) -> int:
        return len(self._windows[stream][core]) - self._forwarded[stream][core]

    def _forward(self, stream: int, core: int) -> None:
        oldest = self._windows[stream][core][self._forwarded[stream][core]]
        if stream == S:
            self.send_left(core, oldest)
            self._forwarded[S][core] += 1
        elif core == self.cores - 1:
            self._forwarded[R][core] += 1
        else:
            self.send_right(core, self._windows[R][core].popleft())

    def _remove(self, stream: int, core: int) -> None:
        self._windows[stream][core].popleft()
        self._forwarded[stream][core] -= 1
