"""How many tuples a cycle the ring of units takes: its queues and arbiters, cycle by cycle, in plain Python.

The protocol is that of :mod:`streamjoin.reference.models.hash_ring`, on a clock. In each cycle

- ``lanes`` tuples of each stream are offered, and all or none are taken: none while a FIFO that they go to is full, or
  the guard says so;
- each stream is distributed to its homes by a network of its own;
- a unit handles an R and an S operation, those from the ring first, if they find room in the queue of walks and, should
  they go on, behind the unit;
- in each store a walk visits a place: walks wait in a queue, and four at a time go round in four cycles;
- a result enters the FIFO of its store, or its walk tries again; each lane of the output serves some of the stores, in
  turn, and one result leaves.

Pipelines take no time here, for no throughput depends on that. What is under way in them when a FIFO says that it is
full has to be added to its depth.
"""

from collections import Counter, deque
from dataclasses import dataclass
from itertools import islice

import numpy as np

#: Walks of a store that are under way.
_ROUND = 4


@dataclass(frozen=True)
class Sizes:
    """What is to be built.

    Parameters
    ----------
    lanes
        Tuples of each stream that are offered in a cycle.
    units, places, epoch, window
        P, C, E and W of the ring.
    buckets
        Of each store; None for twice its share of the window.
    network
        ``"lanes"``, ``"ordered"`` or ``"butterfly"``.
    depth
        Of a FIFO of the network.
    walks
        Walks of a store that may wait.
    results, result_depth
        Results that leave in a cycle, and room in a store's FIFO of them.
    ring_depth
        Room between two units.
    ahead
        How many epochs may follow the one in which an operation is under way.
    """

    lanes: int = 4
    units: int = 8
    places: int = 1024
    epoch: int = 512
    window: int = 4096
    buckets: int | None = None
    network: str = "lanes"
    depth: int = 16
    walks: int = 32
    results: int = 1
    result_depth: int = 32
    ring_depth: int = 8
    ahead: int = 1


@dataclass
class Counts:
    """What explains the speed, from when the windows are full.

    Cycles, tuples taken and results that left; cycles in which the ``network`` or the ``guard`` held tuples back; how
    often an operation waited for the queue of ``walks``, and a walk for the FIFO of its ``result``; ``visits`` of
    places; how often an operation was handled away from home, having ``passed``.
    """

    cycles: int = 0
    tuples: int = 0
    results: int = 0
    network: int = 0
    guard: int = 0
    walks: int = 0
    result: int = 0
    visits: int = 0
    passed: int = 0

    @property
    def tuples_per_cycle(self) -> float:
        return self.tuples / self.cycles


class LaneFIFOs:
    """A FIFO from each lane to each unit, and a round-robin arbiter at each unit."""

    def __init__(self, sizes: Sizes):
        self._depth = sizes.depth
        self._fifos = [[deque() for _ in range(sizes.lanes)] for _ in range(sizes.units)]
        self._turns = [0] * sizes.units

    def has_room(self, homes: list[int]) -> bool:
        return all(len(self._fifos[home][lane]) < self._depth for lane, home in enumerate(homes))

    def put(self, lane: int, home: int, operation) -> None:
        self._fifos[home][lane].append(operation)

    def front(self, unit: int):
        """The operation that the unit may take, or None."""
        fifos, turn = self._fifos[unit], self._turns[unit]
        for lane in (*range(turn, len(fifos)), *range(turn)):
            if fifos[lane]:
                self._chosen = lane
                return fifos[lane][0]
        return None

    def take(self, unit: int) -> None:
        """Take what :meth:`front` gave."""
        self._fifos[unit][self._chosen].popleft()
        self._turns[unit] = (self._chosen + 1) % len(self._fifos[unit])

    def move(self) -> None:
        """A cycle passes."""


class OrderedFIFOs(LaneFIFOs):
    """The same, but a unit takes R and S together in the order of their arrival: the oldest, and the next one in the
    same cycle if it is of the other stream. (In hardware, a FIFO of each unit remembers which lanes brought something.)
    """

    def front(self, unit: int):
        waiting = [(fifo[0].number, lane) for lane, fifo in enumerate(self._fifos[unit]) if fifo]
        if not waiting:
            return None
        _, self._chosen = min(waiting)
        return self._fifos[unit][self._chosen][0]

    def oldest(self, unit: int, count: int) -> list[int]:
        """The numbers of the oldest operations that wait for a unit."""
        return sorted(each.number for fifo in self._fifos[unit] for each in islice(fifo, count))[:count]


class Butterfly:
    """Stages of 2x2 switches with a FIFO at each input; each stage decides one bit of the home, the highest first.

    There are more units than lanes. So the first stage gives each lane two ways, with nothing else on them.
    """

    def __init__(self, sizes: Sizes):
        self._depth, self._ports = sizes.depth, sizes.units
        self._bits = (sizes.units - 1).bit_length()
        self._stages = [[deque() for _ in range(self._ports)] for _ in range(self._bits + 1)]
        self._turn = 0

    def has_room(self, homes: list[int]) -> bool:
        return all(len(self._stages[0][lane]) < self._depth for lane in range(len(homes)))

    def put(self, lane: int, home: int, operation) -> None:
        self._stages[0][lane].append(operation)

    def front(self, unit: int):
        fifo = self._stages[-1][unit]
        return fifo[0] if fifo else None

    def take(self, unit: int) -> None:
        self._stages[-1][unit].popleft()

    def move(self) -> None:
        self._turn ^= 1
        for stage in range(self._bits - 1, -1, -1):
            here, there = self._stages[stage], self._stages[stage + 1]
            bit = 1 << self._bits - 1 - stage
            for port in range(self._ports):
                if port & bit:
                    continue
                taken = set()
                for fifo in (here[port | bit * self._turn], here[port | bit * (1 - self._turn)]):
                    if fifo:
                        out = port | (fifo[0].home & bit)
                        if out not in taken and len(there[out]) < self._depth:
                            there[out].append(fifo.popleft())
                            taken.add(out)


class Operation:
    """A tuple on its way."""

    __slots__ = ("bucket", "epoch", "home", "key", "number", "stored", "stream", "under_way", "units")

    def __init__(self, stream, number, key, home, bucket, epoch):
        self.stream, self.number, self.key = stream, number, key
        self.home, self.bucket, self.epoch = home, bucket, epoch
        self.stored, self.units, self.under_way = False, 0, 1


class Store:
    """Tuples of one stream at one unit, walks and results."""

    def __init__(self, sizes: Sizes):
        buckets = sizes.buckets or 2 * -(-sizes.window // sizes.units)
        self.chains = [deque() for _ in range(buckets)]  # of (local number, number, key)
        self.next = self.oldest = self.passed = 0
        self.marks = deque([0] * (-(-sizes.window // sizes.epoch) + 1 + sizes.ahead))
        self.waiting: deque = deque()
        self.round: list = [None] * _ROUND
        self.results = 0

    def tick(self) -> None:
        self.marks.append(self.next)
        self.oldest = self.marks.popleft()
        self.passed = max(0, self.passed - 1)


class Clockwork:
    """The whole of it.

    Parameters
    ----------
    sizes
        What is built.
    keys
        Of R and of S, in the order of arrival: R and S in turn.
    """

    def __init__(self, sizes: Sizes, keys: tuple[np.ndarray, np.ndarray]):
        self._sizes = sizes
        self._keys = [key.tolist() for key in keys]
        scattered = [_scattered(key) for key in keys]
        self._homes = [(mixed % sizes.units).tolist() for mixed in scattered]
        self._stores = [[Store(sizes) for _ in range(2)] for _ in range(sizes.units)]
        buckets = len(self._stores[0][0].chains)
        self._buckets = [((mixed >> 24) % buckets).tolist() for mixed in scattered]
        network = {"lanes": LaneFIFOs, "ordered": OrderedFIFOs, "butterfly": Butterfly}[sizes.network]
        self._networks = [network(sizes) for _ in range(2)]
        self._behind: list[deque] = [deque() for _ in range(sizes.units)]
        self._under_way: Counter[int] = Counter()
        self._outputs = [[] for _ in range(sizes.results)]
        for index, store in enumerate(store for stores in self._stores for store in stores):
            self._outputs[index % sizes.results].append(store)
        self._turns = [0] * sizes.results
        self._came = self._epoch = self._now = self._results = 0
        self.counts = Counts()

    def run(self) -> Counts:
        """Until all tuples have been taken, a multiple of ``lanes``; counts begin when the windows are full."""
        while self._came < len(self._keys[0]):
            if self._came < self._sizes.window + self._sizes.epoch * 4:
                self.counts = Counts()
            self._cycle()
            self._take()
        return self.counts

    def drain(self) -> int:
        """Until all results have left: how many there have been since the beginning."""
        while sum(self._under_way.values()) or any(store.results for stores in self._stores for store in stores):
            self._cycle()
        return self._results

    def _cycle(self) -> None:
        for lane, stores in enumerate(self._outputs):
            self._leave(lane, stores)
        for stores in self._stores:
            for store in stores:
                self._walk(store, self._now % _ROUND)
        arriving = [list(behind)[:2] for behind in self._behind]
        for unit in range(self._sizes.units):
            self._work(unit, arriving[unit - 1])
        for network in self._networks:
            network.move()
        self.counts.cycles += 1
        self._now += 1

    def _leave(self, lane: int, stores: list[Store]) -> None:
        for n in range(len(stores)):
            store = stores[(self._turns[lane] + n) % len(stores)]
            if store.results:
                store.results -= 1
                self._turns[lane] = (self._turns[lane] + n + 1) % len(stores)
                self.counts.results += 1
                self._results += 1
                return

    def _walk(self, store: Store, slot: int) -> None:
        if store.round[slot] is None:
            if not store.waiting:
                return
            store.round[slot] = store.waiting.popleft()
        operation, chain = store.round[slot]
        if store.results == self._sizes.result_depth:
            self.counts.result += 1
            return
        self.counts.visits += 1
        _, number, key = chain.pop()
        if key == operation.key:
            back = operation.number + operation.stream - number  # R and S arrive in turn
            forward = number + 1 - operation.stream - operation.number
            if 0 < back <= self._sizes.window or (back <= 0 and forward <= self._sizes.window):
                store.results += 1
        if not chain or chain[-1][0] < store.oldest:
            store.round[slot] = None
            self._done(operation)

    def _done(self, operation: Operation) -> None:
        operation.under_way -= 1
        if not operation.under_way:
            self._under_way[operation.epoch] -= 1

    def _work(self, unit: int, passing: list[Operation]) -> None:
        """Of each stream one operation, in the order of the ring, and what it leaves from home."""
        before, behind = self._behind[unit - 1], self._behind[unit]
        streams = [0, 1]
        for operation in passing:
            if operation.stream not in streams or not self._may_walk(unit, operation):
                break
            if len(behind) >= self._sizes.ring_depth and self._sizes.units > 1:
                break
            before.popleft()
            streams.remove(operation.stream)
            self._handle(unit, operation)
            self.counts.passed += 1
        for stream in self._in_turn(unit):
            operation = self._networks[stream].front(unit)
            if stream in streams and operation is not None and self._may_enter(unit, operation):
                self._networks[stream].take(unit)
                self._handle(unit, operation)
            elif self._sizes.network == "ordered":
                break

    def _in_turn(self, unit: int) -> list[int]:
        """Which stream comes first, and whether the other one may come, too."""
        if self._sizes.network != "ordered":
            return [0, 1]
        waiting = [network.oldest(unit, 2) for network in self._networks]
        oldest = sorted((number, stream) for stream, numbers in enumerate(waiting) for number in numbers)[:2]
        return list(dict.fromkeys(stream for _, stream in oldest))

    def _may_enter(self, unit: int, operation: Operation) -> bool:
        return len(self._behind[unit]) + 2 <= self._sizes.ring_depth and self._may_walk(unit, operation)

    def _may_walk(self, unit: int, operation: Operation) -> bool:
        may = len(self._stores[unit][1 - operation.stream].waiting) < self._sizes.walks
        self.counts.walks += not may
        return may

    def _handle(self, unit: int, operation: Operation) -> None:
        own, other = self._stores[unit][operation.stream], self._stores[unit][1 - operation.stream]
        chain = other.chains[operation.bucket]
        while chain and chain[0][0] < other.oldest:
            chain.popleft()
        if chain:
            other.waiting.append((operation, list(chain)))
            operation.under_way += 1
        operation.units += 1
        if not operation.stored:
            if own.next - own.oldest < self._sizes.places:
                operation.stored = True
                own.chains[operation.bucket].append((own.next, operation.number, operation.key))
                own.next += 1
            else:
                own.passed = len(own.marks) + 1
        if operation.units < self._sizes.units and (not operation.stored or other.passed):
            self._behind[unit].append(operation)
        else:
            assert operation.stored
            self._done(operation)

    def _take(self) -> None:
        sizes, first = self._sizes, self._came
        if first // sizes.epoch > self._epoch:
            if any(count for epoch, count in self._under_way.items() if epoch <= self._epoch - self._sizes.ahead):
                self.counts.guard += 1
                return
            self._epoch += 1
        homes = [homes[first : first + sizes.lanes] for homes in self._homes]
        if not all(network.has_room(of) for network, of in zip(self._networks, homes, strict=True)):
            self.counts.network += 1
            return
        for stream, network in enumerate(self._networks):
            for lane, home in enumerate(homes[stream]):
                number = first + lane
                operation = Operation(
                    stream, number, self._keys[stream][number], home, self._buckets[stream][number], self._epoch
                )
                self._under_way[self._epoch] += 1
                network.put(lane, home, operation)
        self._came += sizes.lanes
        self.counts.tuples += 2 * sizes.lanes
        if self._came % sizes.epoch == 0:
            for stores in self._stores:
                for store in stores:
                    store.tick()


def _scattered(keys: np.ndarray) -> np.ndarray:
    """Some hash function of 64 bits."""
    mixed = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ mixed >> np.uint64(shift)) * np.uint64(factor)
    return (mixed ^ mixed >> np.uint64(31)).astype(np.int64) & 0x7FFFFFFFFFFFFFFF
