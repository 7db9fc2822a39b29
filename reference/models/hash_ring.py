"""Hash windows in a ring of units, several tuples a cycle, in plain Python.

Each tuple has a home, a unit that is drawn by its key, and becomes an *operation* there. Operations reach their homes
in any order, R and S alike. At a unit, and at once, an operation looks up the other stream's tuples that are stored
there: it begins a walk, which goes on by itself (:mod:`streamjoin.reference.models.hash_window`). It is stored there,
too, if there is a free place, and goes on to the next unit of the ring if it has not been stored, or if one of the
other stream has *passed* there that was not stored and may be its partner. No operation goes through more units than
there are.

What it carries. Tuple number n of its stream knows c, how many of the other stream came before it. Of two that meet, x
being the one that looks, y came earlier if y.n < x.c, and counts if x.c - y.n <= W of y's stream. Otherwise x came
earlier and overtook nobody: it has been overtaken, and counts if y.c - x.n <= W of x's stream.

Why a pair meets once. Let both have the same home. At a unit operations are handled one after the other, those that
pass in the order in which they left the unit before; so the one that is second at home is second wherever both come.
The first one never sees the second one, which is always stored later. The second one sees the first one where that is
stored, if it comes there: at each unit before, the first one passed without being stored. It sees it once, because a
walk goes back in the order of storing. It takes one FIFO for both streams between two units, see the tests.

How late things are. An epoch lasts until E tuples of one stream have come. No epoch begins while operations are under
way, or walks of theirs, that arrived more than ``ahead`` epochs before. So while an operation is under way, at most D =
(ahead + 1) E tuples of each stream come, counting its own; and it may take at least ahead E before any are held back.

When places become free. Whenever E more of a stream have come, a *tick*, each unit notes how much of that stream it has
stored: a mark. What lies before a mark has come before that tick. L = ceil((W + D) / E) ticks later, W + D more have
come, and who may still ask has c > n + W: all before the mark is free. So marks wait in a shift register of L, and
nobody compares numbers. A walk ends where it comes upon a free place: all that is behind it is free, too. Likewise, L +
1 ticks after a tuple has passed nobody who is still under way may be its partner: so passing sets a counter to L + 1,
which each tick decreases.

Why there is always a place. Say x finds none at P units. The P C tuples that were in its way are all different. They
were stored after the mark that was the last to leave the register, which is of a tick at most L E + E - 1 tuples ago;
who is handled after a tick came at most D before it; and at the end of x's way D have come since x, counting x. So they
are among L E + 2 D + E - 2 tuples, one of which is x itself: with as many places there is one for x.

Bits. y.n lies at most L E + D + E - 1 before x.c, and at most D - 1 after: numbers of L E + 2 D + E - 1 values tell
which. If x came earlier, y.c - x.n is from 1 to D. So nothing of c has to be stored where W >= D, and of other c as
many bits as D has.

Why nothing is stuck. An operation waits for room in the FIFO behind its unit, at home for two places. So never are all
places of the ring taken: one FIFO has a free place, and if the one before it has an operation, that moves. Each leaves
the ring after P units; when the guard holds tuples back no more come, and in the end those at home have their two
places. Walks wait for nobody.

Bands. Keys come in groups as in :class:`~streamjoin.reference.models.hash_window.KeyGroups`, and groups in blocks; the
home is drawn by the block. Of an S tuple that is the block of its key; an R tuple has partners in one block or, near
its border, in two, and becomes an operation for each of them, with ``copies`` that are stored in both. So a pair meets
in the block of S, as above. One bit says for which block a tuple is stored, since both may be at one unit after all.
All R tuples may lie at borders: there must be twice as many places for them. With ``probes`` each tuple is stored in
its own block, and operations that are never stored look into the other one: then two meet in two places, and it is only
right if operations come to each home in the order of their arrival, so that the later one sees the earlier one in both,
and counts it in one. In that order nothing is overtaken, and c is never stored.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from random import Random

from streamjoin.reference.arrivals import Arrivals, Row, Windows
from streamjoin.reference.models.hash_window import KeyGroups, Link, bucket_of
from streamjoin.reference.models.message_chain import DeadlockError, R
from streamjoin.reference.predicates import Predicate


@dataclass(frozen=True)
class Ring:
    """The sizes.

    Parameters
    ----------
    units
        P, from 1 up.
    epoch
        E, from 1 up.
    ahead
        How many epochs may follow the one in which an operation is under way, from 1 up.
    places
        C, of each unit's store of a stream; None for as few as there may be.
    depth
        Room in the FIFO between two units, from 2 up.
    buckets
        Of each bank of a store.
    laps
        Bits of a local number beyond those of a place, from 1 up.
    bands
        ``"copies"`` or ``"probes"``.
    block
        Groups in a block, as a power of two.
    in_order
        Operations reach each home in the order of their arrival.
    """

    units: int
    epoch: int
    ahead: int = 1
    places: int | None = None
    depth: int = 2
    buckets: int = 4
    laps: int = 1
    bands: str = "copies"
    block: int = 0
    in_order: bool = False

    @property
    def delay(self) -> int:
        """D: how many tuples of a stream may come while an operation is under way."""
        return (self.ahead + 1) * self.epoch

    def marks(self, window: int) -> int:
        """L: how many ticks a mark waits."""
        return -(-window // self.epoch) + self.ahead + 1

    def least_room(self, window: int, copies: int = 1) -> int:
        """Places that a stream's stores must have, all together."""
        return copies * (self._range(window) - 2)

    def number_bits(self, window: int) -> int:
        """Of the numbers of a stream's tuples, which wrap round."""
        return (self._range(window) - 2).bit_length()

    def _range(self, window: int) -> int:
        return (self.marks(window) + 1) * self.epoch + 2 * self.delay


@dataclass
class Operation:
    """A tuple on its way: ``number`` n and ``others`` c wrap round; ``block`` is the one that it is for.

    It has been handled at so many ``units``; it ``travels`` until the last of them, and is done when its walks are.
    """

    arrival: int
    row: Row
    number: int
    others: int
    block: int
    home: int
    epoch: int
    stored: bool
    units: int = 0
    travels: bool = True
    walks: int = 0


@dataclass
class Walk:
    """What an operation has still to look at in one bank of a store, from a local number on."""

    operation: Operation
    store: "Store"
    bank: int
    at: int


@dataclass
class Counts:
    """What explains the performance.

    ``visits`` of places, how often a tuple could have arrived but was ``held_back`` by the guard, tuples that have been
    ``spilled``, which is stored away from home, and how many operations went through how many ``units``.
    """

    visits: int = 0
    held_back: int = 0
    spilled: int = 0
    units: Counter = field(default_factory=Counter)


class Store:
    """What a unit holds of one stream, a ring of places with local numbers. It starts with arbitrary contents."""

    def __init__(self, ring: Ring, window: int, places: int, groups: KeyGroups, random: Random):
        self._groups, self._buckets, self._places = groups, ring.buckets, places
        self._numbers = places << ring.laps
        self._heads = [[random.randrange(self._numbers) for _ in range(ring.buckets)] for _ in range(groups.banks)]
        self._links = [Link(random.random() < 0.9, random.randrange(places)) for _ in range(places)]
        self._stored: list[Operation] = [
            Operation(-1, Row(0, random.randrange(4), time=0), 0, 0, 0, 0, 0, True) for _ in range(places)
        ]
        self._ticks = ring.marks(window)
        self.reset()

    def reset(self) -> None:
        """Nothing is stored, and nobody has passed."""
        self._next = self._oldest = self._passed = 0
        self._marks = deque([0] * self._ticks)

    def tick(self) -> None:
        """Some more of the stream have come."""
        self._marks.append(self._next)
        self._oldest = self._marks.popleft()
        self._passed = max(0, self._passed - 1)

    @property
    def has_room(self) -> bool:
        return (self._next - self._oldest) % self._numbers < self._places

    @property
    def may_lie_further_on(self) -> bool:
        """Whether some that may be asked for have passed and were not stored."""
        return self._passed > 0

    def passes(self) -> None:
        """One has come that is not stored."""
        self._passed = self._ticks + 1

    def store(self, operation: Operation) -> None:
        """Store one, and link it to the one before in its bucket."""
        bank, group = self._groups.group(operation.row.key)
        bucket = bucket_of(group, self._buckets)
        gap = (self._next - self._heads[bank][bucket] - 1) % self._numbers
        place = self._next % self._places
        self._links[place] = Link(gap < (self._next - self._oldest) % self._numbers, gap % self._places)
        self._stored[place] = operation
        self._heads[bank][bucket] = self._next
        self._next = (self._next + 1) % self._numbers

    def begin(self, operation: Operation) -> list[Walk]:
        """The walks of one of the other stream."""
        walks = [
            Walk(operation, self, bank, self._heads[bank][bucket_of(group, self._buckets)])
            for bank, group in sorted(self._groups.wanted(operation.row.stream, operation.row.key))
        ]
        return [walk for walk in walks if self._is_live(walk.at)]

    def visit(self, walk: Walk) -> tuple[Operation | None, bool]:
        """What a walk sees, if that belongs to its bank, and whether it goes on."""
        if not self._is_live(walk.at):
            return None, False
        seen, link = self._stored[walk.at % self._places], self._links[walk.at % self._places]
        goes_on = link.some and link.gap < (walk.at - self._oldest) % self._numbers
        walk.at = (walk.at - link.gap - 1) % self._numbers
        return (seen if self._groups.group(seen.row.key)[0] == walk.bank else None), goes_on

    def _is_live(self, number: int) -> bool:
        return (number - self._oldest) % self._numbers < (self._next - self._oldest) % self._numbers


class HashRing:
    """The protocol, run under any schedule.

    Parameters
    ----------
    random
        Draws what the memories hold before anything is written.
    """

    def __init__(self, ring: Ring, predicate: Predicate, windows: Windows, random: Random):
        self.ring = ring
        self._predicate, self._windows = predicate, windows
        self._groups = groups = KeyGroups.of(predicate)
        self._moduli = [1 << ring.number_bits(room) for room in windows.rooms]
        copies = [2 if groups.banks == 2 and ring.bands == "copies" else 1, 1]
        places = [
            ring.places or -(-ring.least_room(room, many) // ring.units)
            for room, many in zip(windows.rooms, copies, strict=True)
        ]
        self.stores = [
            [Store(ring, *sizes, groups, random) for sizes in zip(windows.rooms, places, strict=True)]
            for _ in range(ring.units)
        ]

    def run(self, arrivals: Arrivals, choose: Callable[[int], int], steps: int | None = None) -> list[tuple[int, int]]:
        """Reset, and join these arrivals: ``choose(n)`` picks one of ``n`` things that could be next.

        With ``steps`` that is all, and the rest is left undone. Memories stay as they are, for the next run.
        """
        self._windows.check(arrivals)
        for stores in self.stores:
            for store in stores:
                store.reset()
        self._coming = list(enumerate(arrivals.rows()))[::-1]
        self._counts = [0, 0]
        self._epoch, self._epoch_counts = 0, [0, 0]
        self._under_way: Counter[int] = Counter()  # by epoch
        self._to_home: list[Operation] = []
        self._behind: list[deque[Operation]] = [deque() for _ in range(self.ring.units)]
        self._walks: list[Walk] = []
        self.counts = Counts()
        self.results: list[tuple[int, int]] = []
        while (steps is None or steps > 0) and (actions := list(self._actions())):
            actions[choose(len(actions))]()
            steps = None if steps is None else steps - 1
        if steps is None and (self._coming or self._to_home or any(self._behind)):
            raise DeadlockError("operations wait for each other")
        return self.results

    def _actions(self) -> Iterator[Callable[[], None]]:
        """All that could happen next."""
        if self._coming and self._may_arrive():
            yield self._arrive
        waiting = set()
        for operation in self._to_home:
            if not (self.ring.in_order and operation.home in waiting) and self._may_enter(operation.home):
                yield partial(self._enter, operation)
            waiting.add(operation.home)
        for unit, behind in enumerate(self._behind):
            if behind and self._has_room((unit + 1) % self.ring.units):
                yield partial(self._pass, unit)
        for walk in self._walks:
            yield partial(self._visit, walk)

    def _may_arrive(self) -> bool:
        """Whether the guard lets the next tuple come."""
        is_over = max(self._epoch_counts) == self.ring.epoch
        held_back = is_over and any(epoch <= self._epoch - self.ring.ahead for epoch in self._under_way)
        self.counts.held_back += held_back
        return not held_back

    def _arrive(self) -> None:
        arrival, row = self._coming.pop()
        if max(self._epoch_counts) == self.ring.epoch:
            self._epoch, self._epoch_counts = self._epoch + 1, [0, 0]
        self._epoch_counts[row.stream] += 1
        number, others = (
            count % modulus
            for count, modulus in zip(
                (self._counts[row.stream], self._counts[1 - row.stream]),
                (self._moduli[row.stream], self._moduli[1 - row.stream]),
                strict=True,
            )
        )
        for block, stores in self._blocks(row):
            home = bucket_of(block, self.ring.units)
            self._to_home.append(Operation(arrival, row, number, others, block, home, self._epoch, not stores))
            self._under_way[self._epoch] += 1
        self._counts[row.stream] += 1
        if self._counts[row.stream] % self.ring.epoch == 0:
            for stores in self.stores:
                stores[row.stream].tick()

    def _blocks(self, row: Row) -> list[tuple[int, bool]]:
        """For which blocks a tuple becomes operations, and whether they are to be stored."""

        def block(key: int) -> int:
            return key >> self._groups.shift + (self.ring.block if self._groups.banks == 2 else 0)

        partners = {block(end) for end in self._groups.ends(row.stream, row.key)}
        if self._groups.banks == 1:  # of any two that match, the same
            return [(block(row.key - self._groups.lo * (row.stream == R)), True)]
        if self.ring.bands == "copies":
            return [(each, True) for each in (partners if row.stream == R else {block(row.key)})]
        own = block(row.key)
        return [(each, each == own) for each in partners | {own}]

    def _may_enter(self, home: int) -> bool:
        """Whether an operation may be handled at its home: if it went on, one place would still be free."""
        return self.ring.units == 1 or self._has_room(home, 2)

    def _has_room(self, unit: int, places: int = 1) -> bool:
        """Whether the FIFO behind a unit has so many places."""
        return len(self._behind[unit]) + places <= self.ring.depth

    def _enter(self, operation: Operation) -> None:
        self._to_home.remove(operation)
        self._handle(operation, operation.home)

    def _pass(self, unit: int) -> None:
        self._handle(self._behind[unit].popleft(), (unit + 1) % self.ring.units)

    def _handle(self, operation: Operation, unit: int) -> None:
        own, other = self.stores[unit][operation.row.stream], self.stores[unit][1 - operation.row.stream]
        walks = other.begin(operation)
        self._walks += walks
        operation.walks += len(walks)
        operation.units += 1
        if not operation.stored and own.has_room:
            self.counts.spilled += operation.units > 1
            operation.stored = True
            own.store(operation)
        if not operation.stored:
            own.passes()
        if operation.units < self.ring.units and (not operation.stored or other.may_lie_further_on):
            self._behind[unit].append(operation)
            return
        if not operation.stored:
            raise LookupError(f"arrival {operation.arrival} finds no place in {self.ring.units} units")
        self.counts.units[operation.units] += 1
        operation.travels = False
        self._end_if_done(operation)

    def _visit(self, walk: Walk) -> None:
        seen, goes_on = walk.store.visit(walk)
        self.counts.visits += 1
        operation = walk.operation
        if seen is not None and seen.block % 2 == operation.block % 2 and self._is_due(operation, seen):
            r, s = (seen, operation) if operation.row.stream != R else (operation, seen)
            if self._predicate.holds(r.row, s.row) and self._is_young(r.row, s.row):
                self.results.append((r.arrival, s.arrival))
        if not goes_on:
            self._walks.remove(walk)
            operation.walks -= 1
            self._end_if_done(operation)

    def _end_if_done(self, operation: Operation) -> None:
        if not (operation.travels or operation.walks):
            self._under_way -= Counter([operation.epoch])

    def _is_due(self, x: Operation, y: Operation) -> bool:
        """Whether the earlier of two that meet is in its window, by their numbers alone, x being the one that looks."""
        of_x, of_y = self._windows.rooms[x.row.stream], self._windows.rooms[y.row.stream]
        latest = self.ring.delay - 1
        back = (x.others - y.number + latest) % self._moduli[y.row.stream] - latest
        if back > 0:
            return back <= of_y
        if self.ring.in_order:
            return False
        return of_x >= self.ring.delay or (y.others - x.number) % (1 << self.ring.delay.bit_length()) <= of_x

    def _is_young(self, r: Row, s: Row) -> bool:
        return self._windows.is_young(r, s) and self._windows.is_young(s, r)
