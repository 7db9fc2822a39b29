"""Both ends of a ready/valid stream, with stalls, and a watch over the rules of the stream.

The rules: a transfer happens in a cycle with valid and ready; once valid is up it stays, with its payload, until the
transfer.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from streamjoin.sim.benches.dut import Dut
from streamjoin.sim.tuples.numbering import payloads

Item = int | dict[str, int]


def _none() -> Iterator[bool]:
    while True:
        yield True


def _random() -> Iterator[bool]:
    while True:
        yield random.random() < 0.5


def _bursty() -> Iterator[bool]:
    while True:
        yield from [True] * random.randint(1, 12)
        yield from [False] * random.randint(1, 12)


def _one_in_n() -> Iterator[bool]:
    n = random.randint(2, 6)
    while True:
        yield from [False] * (n - 1)
        yield True


def _blocks() -> Iterator[bool]:
    while True:
        yield from [False] * random.randint(30, 90)
        yield from [True] * random.randint(20, 60)


#: When one end of a stream is willing, cycle by cycle, by name. Drawn from the seed of the test.
STALLS: dict[str, Callable[[], Iterator[bool]]] = {
    "none": _none,
    "random": _random,
    "bursty": _bursty,
    "one_in_n": _one_in_n,
    "blocks": _blocks,
}


class Source:
    """Offers items to the stream ``name``, in order, each from a cycle in which it is willing until it is taken.

    Where ``minds`` names a warning, it offers nothing new while that is up.

    Attributes
    ----------
    taken
        The cycle in which each item was taken, so far.
    """

    def __init__(self, dut: Dut, name: str, items: Iterable[Item], stalls: str = "none", *, minds: str | None = None):
        self._dut = dut
        self._name = name
        self._minds = minds
        self._items = list(items)
        self._willing = STALLS[stalls]()
        self._offers = False
        self.taken: list[int] = []
        dut.attach(self)

    @property
    def done(self) -> bool:
        return len(self.taken) == len(self._items)

    def drive(self) -> None:
        warned = self._minds is not None and self._dut[self._minds]
        if not self._offers and next(self._willing) and not self.done and not warned:
            self._offers = True
            self._dut[f"{self._name}__payload"] = self._items[len(self.taken)]
        self._dut[f"{self._name}__valid"] = self._offers

    def sample(self) -> None:
        if self._offers and self._dut[f"{self._name}__ready"]:
            self._offers = False
            self.taken.append(self._dut.cycle_number)


class Sink:
    """Takes items from the stream ``name`` in the cycles in which it is willing, and watches over the rules.

    Attributes
    ----------
    items, taken
        What came, decoded, and in which cycles: of a port with slots for several items, those of a transfer one after
        the other.
    blocked
        While this is set it takes nothing.
    """

    def __init__(self, dut: Dut, name: str, stalls: str = "none"):
        self._dut = dut
        self._name = name
        self._willing = STALLS[stalls]()
        self._ready = False
        self._pending: list[Any] | None = None
        self.blocked = False
        self.items: list[Any] = []
        self.taken: list[int] = []
        dut.attach(self)

    def drive(self) -> None:
        self._ready = next(self._willing) and not self.blocked
        self._dut[f"{self._name}__ready"] = self._ready

    def sample(self) -> None:
        items = self._dut.items(f"{self._name}__payload") if self._dut[f"{self._name}__valid"] else None
        if self._pending is not None:
            assert items is not None, f"{self._name} withdrew its item before it was taken"
            assert items == self._pending, f"{self._name} changed its item before it was taken"
        self._pending = items
        if items is not None and self._ready:
            self._pending = None
            self.items += items
            self.taken += [self._dut.cycle_number] * len(items)


def random_items(count: int, width: int = 16) -> list[int]:
    """Items that are all different, so that none can be lost, doubled or swapped unseen; every bit of them moves."""
    start = random.getrandbits(width)
    return payloads(range(start, start + count), width).tolist()
