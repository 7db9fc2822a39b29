"""Units of the wide hash join, one or a ring of them: each pair meets once, in whatever order tuples come home."""

import random
from collections import Counter
from itertools import pairwise, product

import pytest
from amaranth.hdl import Module
from amaranth.lib.wiring import connect

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.hash.hash_unit import HashUnit, UnitSizes
from streamjoin.hdl.hash.hash_window import WindowSizes
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.hash.placed_layout import PlacedLayout
from streamjoin.hdl.hash.window_ring import WindowRing
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import run

KEY_WIDTH, PAYLOAD_WIDTH = 6, 12
#: Cycles after which whatever moves shows: as in the join.
SETTLE = 24


def made(units: int, windows: tuple[int, int], epoch: int, ring: int, spare: int = 8):
    """Units in a ring, with so little room that most tuples of one home have to go on if there are several units."""
    # Of each stream a tuple may come in every cycle of an epoch, and those of two are under way.
    disorder = 2 * epoch
    bits = 1 + (max(windows) + 4 * disorder - 1).bit_length()
    rooms = [WindowRing((window + 3 * disorder + spare) // units + 6) for window in windows]
    sizes = {side: WindowSizes(room, 4, 2, 2) for side, room in zip("rs", rooms, strict=True)}
    ports = TupleLayout(parse_predicate("equi"), key_width=KEY_WIDTH, payload_width=PAYLOAD_WIDTH)
    groups = KeyGroups(0, 0, KEY_WIDTH, seed=1, home_bits=(units - 1).bit_length())
    layout = PlacedLayout.of(ports, windows, bits)
    return [HashUnit(layout, groups, UnitSizes(units, sizes, disorder, ring)) for _ in range(units)], bits


def in_ring(units):
    m = Module()
    for n, unit in enumerate(units):
        m.submodules[f"unit{n}"] = unit
    for unit, following in pairwise([*units, units[0]]):
        connect(m, unit.o, following.i)
    return m


class Arrivals:
    """Tuples with their places in the arrival order, and the epochs that the guard of the join would give them."""

    def __init__(self, rng: random.Random, epoch: int, bits: int, keys: list[int]):
        self._rng, self._epoch, self._bits, self._keys = rng, epoch, bits, keys
        self.tuples: dict[str, list[dict]] = {"r": [], "s": []}
        self.now, self._passed = 0, 0
        self.flying = [0, 0]

    def come(self, sides: str) -> list[tuple[str, dict]]:
        """A transfer, R before S or the other way round, unless those of the epoch before have to arrive first."""
        if self._passed == self._epoch and not self.flying[1 - self.now]:
            self.now, self._passed = 1 - self.now, 0
        if self._passed == self._epoch:
            return []
        self._passed += 1
        return [(side, self._next(side)) for side in sides]

    def _next(self, side):
        self.flying[self.now] += 1
        number, other = len(self.tuples[side]), len(self.tuples["sr"[side == "s"]])
        self.tuples[side].append(
            {
                "tuple": {"key": self._rng.choice(self._keys), "payload": number, "number": number, "other": other},
                "epoch": self.now,
            }
        )
        return self.tuples[side][-1]

    def wrapped(self, one: dict) -> dict:
        """As it is in hardware."""
        places = {name: one["tuple"][name] % (1 << self._bits) for name in ("number", "other")}
        return one | {"tuple": one["tuple"] | places}

    def due(self, windows: tuple[int, int]) -> Counter:
        """All pairs, by their numbers."""
        pairs = Counter()
        for r, s in product(*([one["tuple"] for one in self.tuples[side]] for side in "rs")):
            r_was_first = r["number"] < s["other"]
            behind = s["other"] - r["number"] if r_was_first else r["other"] - s["number"]
            pairs[r["number"], s["number"]] += r["key"] == s["key"] and behind <= windows[not r_was_first]
        return +pairs


def joined(units, bits, windows, epoch, keys, stall, cycles, seed):
    """Run tuples through the ring; what was found, what was due, and how many went on without being stored."""
    rng = random.Random(seed)
    arrivals, found, gone_on = Arrivals(rng, epoch, bits, keys), Counter(), Counter()
    homes = [(unit, side) for unit in range(len(units)) for side in "rs"]
    pools: dict = {home: [] for home in homes}
    offered: dict = dict.fromkeys(homes)

    def offer(ctx):
        for unit, side in homes:
            port, pool = getattr(units[unit], f"i_{side}"), pools[unit, side]
            if offered[unit, side] is None and pool and rng.random() >= stall:
                # Any of those that are under way: they overtake each other.
                offered[unit, side] = pool.pop(rng.randrange(len(pool)))
                ctx.set(port.p, arrivals.wrapped(offered[unit, side]))
            ctx.set(port.valid, offered[unit, side] is not None)
        for unit, side in product(units, "rs"):
            ctx.set(getattr(unit, f"newest_{side}"), len(arrivals.tuples[side]) % (1 << bits))

    async def cycle(ctx, sides):
        for side, one in arrivals.come(sides):
            pools[one["tuple"]["key"] % len(units), side].append(one)
        offer(ctx)
        values = []
        for unit in units:
            for port in unit.o_results:
                ctx.set(port.ready, rng.random() >= stall)
                values += [port.valid, port.ready, port.p]
            values += [unit.done_r, unit.done_s, unit.o.valid, unit.o.ready, unit.o.p, unit.busy]
            values += [unit.i_r.ready, unit.i_s.ready]
        _, _, *seen = await ctx.tick().sample(*values)
        busy = False
        for n in range(len(units)):
            mine = seen[14 * n : 14 * (n + 1)]
            for valid, ready, result in (mine[:3], mine[3:6]):
                found[result.payload_r, result.payload_s] += valid and ready
            for done in mine[6:8]:
                if done.some:
                    arrivals.flying[done.epoch] -= 1
                    assert arrivals.flying[done.epoch] >= 0, "more are done than have come"
            valid, ready, visitors = mine[8:11]
            for side in "rs" if valid and ready else "":
                visitor = visitors[side]
                gone_on["stored" if visitor.stored else "not stored"] += visitor.some
                assert not visitor.some or 0 < visitor.hops < len(units)
            busy |= bool(mine[11])
            for side, ready in zip("rs", mine[12:], strict=True):
                if ready:
                    offered[n, side] = None
        return busy or any(pools.values()) or any(offered.values())

    async def bench(ctx):
        for _ in range(cycles):
            await cycle(ctx, rng.choice(("r", "s", "rs", "sr", "rs", "sr", "")))
        idle = 0
        for _ in range(6000):
            idle = 0 if await cycle(ctx, "") else idle + 1
            if idle == SETTLE:
                break
        else:
            raise AssertionError("what is inside does not come out")
        assert arrivals.flying == [0, 0], "each is done once"

    run(in_ring(units), bench)
    return +found, arrivals.due(windows), gone_on


@pytest.mark.parametrize("stall", [0.0, 0.6])
@pytest.mark.parametrize(("windows", "epoch"), [((1, 8), 3), ((20, 11), 8)])
def test_a_unit_alone_finds_each_pair_once(windows, epoch, stall):
    """Nothing goes on: there is room for all that are not dead."""
    units, bits = made(1, windows, epoch, 4)
    found, due, gone_on = joined(units, bits, windows, epoch, [1, 2, 2, 5], stall, 700, seed=epoch)
    assert found == due
    assert len(due) > 200
    assert not gone_on


@pytest.mark.slow
@pytest.mark.parametrize("stall", [0.0, 0.4])
@pytest.mark.parametrize(
    ("count", "windows", "epoch", "ring"),
    [(2, (100, 45), 6, 2), (2, (60, 100), 9, 16), (2, (8, 3), 30, 3), (4, (80, 100), 8, 5)],
)
def test_what_home_cannot_store_meets_all_the_same(count, windows, epoch, ring, stall):
    """Most tuples have the same home; where windows are small against the disorder there is room for all of them."""
    units, bits = made(count, windows, epoch, ring)
    keys = [*range(1, 1 << KEY_WIDTH, 2 * count)] * 20 + [*range(1 << KEY_WIDTH)] if max(windows) > 8 else [1, 2, 3]
    found, due, gone_on = joined(units, bits, windows, epoch, keys, stall, 900, seed=ring)
    assert found == due, f"missing {list(due - found)[:5]}, too many {list(found - due)[:5]}"
    assert len(due) > 250
    if max(windows) > 8:
        assert gone_on["not stored"] > 10
        assert gone_on["stored"] > 10


WINDOW, EPOCH = 8, 2


def visited(steps):
    """What one of two units says: which tuples go on, and which are done, in the order in which they do.

    A step is what comes by each port, by its name, and the newest numbers.
    """
    (unit, _), _ = made(2, (WINDOW, WINDOW), EPOCH, 4)
    on, done = [], []

    async def bench(ctx):
        ctx.set(unit.o.ready, 1)
        for port in unit.o_results:
            ctx.set(port.ready, 1)
        await ctx.tick().repeat(3)
        for step in steps:
            for name, value in step.items():
                if name.startswith("newest"):
                    ctx.set(getattr(unit, name), value)
                else:
                    ctx.set(getattr(unit, name).p, value)
                    ctx.set(getattr(unit, name).valid, 1)
            taken = not any(name.startswith("i") for name in step)
            for _ in range(12):
                ports = (unit.i, unit.i_r, unit.i_s)
                values = [value for port in ports for value in (port.valid, port.ready)]
                _, _, *now = await ctx.tick().sample(
                    *values, unit.o.valid, unit.o.p, unit.done_r, unit.done_s, unit.busy
                )
                for n, port in enumerate(ports):
                    if now[2 * n] and now[2 * n + 1]:
                        ctx.set(port.valid, 0)
                        taken = True
                valid, visitors, *dones, _ = now[6:]
                for side in "rs" if valid else "":
                    visitor = visitors[side]
                    if visitor.some:
                        on.append((side, visitor.tuple.number, visitor.epoch, visitor.hops, visitor.stored))
                done.extend((side, each.epoch) for side, each in zip("rs", dones, strict=True) if each.some)
            assert taken

    run(unit, bench)
    return on, done


def tuple_of(number, other, key=1):
    return {"key": key, "payload": number, "number": number, "other": other}


def from_home(number, other, epoch):
    return {"tuple": tuple_of(number, other), "epoch": epoch, "home": 0}


def from_ring(number, other, epoch, stored):
    return {"tuple": tuple_of(number, other), "epoch": epoch, "hops": 1, "stored": stored, "some": 1}


def fill():
    """More of R than there is room for."""
    return [{"i_r": from_home(n, 0, n % 2)} for n in range(24)]


def test_what_has_been_stored_is_done_and_the_rest_goes_on():
    """As long as nobody passed who was not stored."""
    on, done = visited([*fill(), {"i_s": from_home(0, 3, 1)}])
    stored = 24 - sum(side == "r" for side, *_ in on)
    assert 10 <= stored < 24
    assert [one for one in on if one[0] == "r"] == [("r", n, n % 2, 1, 0) for n in range(stored, 24)]
    assert [one for one in done if one[0] == "r"] == [("r", n % 2) for n in range(stored)]


def test_one_goes_on_where_a_possible_partner_has_passed():
    """It does once that is far behind its window, too far for anybody who may still come, but only once."""
    (*_, last), _ = visited(fill())
    newest = last[1]
    assert newest == 23
    disorder = 2 * EPOCH
    at = newest + WINDOW + disorder
    meets = [(at - disorder, 1), (at - WINDOW - 2, 1), (at, 1), (at + 1, 0)]
    for other, goes in meets:
        on, done = visited([*fill(), {"i_s": from_home(0, other % 64, 1)}])
        mine = [one for one in on if one[0] == "s"]
        assert mine == [("s", 0, 1, 1, 1)] * goes, f"with {other} expected"
        assert done.count(("s", 1)) == 1 - goes


@pytest.mark.parametrize("beyond", [0, 1])
def test_who_passed_is_forgotten_once_nobody_is_left_who_may_ask(beyond):
    """Another one may have overtaken by as much as the disorder."""
    at = 23 + WINDOW + 2 * EPOCH
    ahead = {"i_s": from_home(0, (at + 2 * EPOCH + beyond) % 64, 0)}
    on, _ = visited([*fill(), ahead, {"i_s": from_home(1, at, 0)}])
    assert [number for side, number, *_ in on if side == "s"] == [1] * (1 - beyond)


@pytest.mark.parametrize("idle", [3, 4, 6, 10])
def test_who_passes_while_another_is_forgotten_is_remembered(idle):
    """One of S that is far ahead makes the unit forget; whoever passes about then is not meant."""
    disorder, many = 2 * EPOCH, 24
    (unit, _), bits = made(2, (WINDOW, WINDOW), EPOCH, 16)
    on = []

    async def bench(ctx):
        ctx.set(unit.o.ready, 1)
        await ctx.tick().repeat(3)

        async def comes(side, one):
            port = getattr(unit, f"i_{side}")
            ctx.set(port.p, one)
            ctx.set(port.valid, 1)
            while True:
                _, _, ready, valid, visitors = await ctx.tick().sample(port.ready, unit.o.valid, unit.o.p)
                note(valid, visitors)
                if ready:
                    break
            ctx.set(port.valid, 0)

        def note(valid, visitors):
            if valid and visitors.s.some:
                on.append(visitors.s.tuple.number)

        for n in range(many):
            await comes("r", from_home(n, 0, 0))
        # Whoever this is, it tells that those are far behind; the next one of R is not.
        far = (many - 1 + WINDOW + 2 * disorder + 1) % (1 << bits)
        await comes("s", from_home(0, far, 0))
        for _ in range(idle - 3):
            await ctx.tick()
        await comes("r", from_home(far, 1, 0))
        for _ in range(20):
            _, _, valid, visitors = await ctx.tick().sample(unit.o.valid, unit.o.p)
            note(valid, visitors)
        await comes("s", from_home(1, far + 1, 0))
        for _ in range(20):
            _, _, valid, visitors = await ctx.tick().sample(unit.o.valid, unit.o.p)
            note(valid, visitors)

    run(unit, bench)
    assert on == [1]


def test_tuples_from_home_leave_a_hole_in_the_ring():
    """Both units have more than they can store, and rings of two places: all come through the ring."""
    units, bits = made(2, (WINDOW, WINDOW), EPOCH, 2)
    rooms, done = 24, Counter()

    async def bench(ctx):
        waiting = [[from_home(n, 0, 0) for n in range(first, 2 * rooms, 2)] for first in range(2)]
        for _ in range(900):
            for unit, queue in zip(units, waiting, strict=True):
                ctx.set(unit.i_r.valid, bool(queue))
                if queue:
                    ctx.set(unit.i_r.p, {**queue[0], "tuple": tuple_of(queue[0]["tuple"]["number"] % (1 << bits), 0)})
            values = [value for unit in units for value in (unit.i_r.ready, unit.done_r)]
            _, _, *seen = await ctx.tick().sample(*values)
            for n, queue in enumerate(waiting):
                if queue and seen[2 * n]:
                    queue.pop(0)
                done[n] += seen[2 * n + 1].some

    run(in_ring(units), bench)
    assert done.total() == 2 * rooms


def test_the_last_unit_hands_nothing_on():
    """From there a visitor is done, of whichever stream, and whether or not a partner may be further on."""
    visitors = {"r": from_ring(30, 20, 1, 1), "s": from_ring(0, 24, 0, 1)}
    on, done = visited([*fill(), {"i": visitors}])
    before, done_before = visited(fill())
    assert on == before
    assert done == [*done_before, ("r", 1), ("s", 0)]
