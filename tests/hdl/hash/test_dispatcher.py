"""The dispatcher: each tuple of a transfer leaves by the lane of its slot and half, with its place in the order."""

import random
from collections import deque

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.hash.dispatcher import Dispatcher
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.hash.placed_layout import PlacedLayout
from streamjoin.hdl.lib.hashing import scatter_masks
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import run

BITS, KEY_WIDTH, SEED = 6, 7, 3
#: Transfers that still come after ``room`` has gone down.
PENDING = 3


def made(width, **given):
    ports = TupleLayout(parse_predicate("equi"), key_width=KEY_WIDTH, payload_width=12, width=width, **given)
    groups = KeyGroups(0, 0, KEY_WIDTH, SEED, home_bits=(2 * width - 1).bit_length())
    return Dispatcher(ports, PlacedLayout.of(ports, (3, 3), BITS), groups, pending=PENDING)


def home(key: int, width: int) -> int:
    masks = scatter_masks(KEY_WIDTH, (2 * width - 1).bit_length(), SEED)
    return sum((key & mask).bit_count() % 2 << bit for bit, mask in enumerate(masks))


def transfer(rng, width, payloads):
    """Slots of both streams, and what is beyond the counts as anything."""

    def slot():
        return {"key": rng.getrandbits(KEY_WIDTH), "payload": next(payloads)}

    count_r, count_s = rng.randint(0, width), rng.randint(0, width)
    after = [
        *sorted(rng.randint(0, count_r) for _ in range(count_s)),
        *(rng.randrange(width + 1) for _ in range(width)),
    ]
    r = {"slots": [slot() for _ in range(width)], "count": count_r}
    s = {"slots": [slot() | {"after": after[n]} for n in range(width)], "count": count_s}
    return {"r": r, "s": s}


class Numbers:
    """What is due by each lane: slot and half of each stream."""

    def __init__(self, width):
        self._width, self.counts = width, {"r": 0, "s": 0}
        self.due = {(side, lane): [] for side in "rs" for lane in range(2 * width)}

    def enter(self, slots, epoch):
        """One after the other, as the ports say: S tuples whose ``after`` is at most i come before R tuple i."""
        r, s = (slots[side]["slots"][: slots[side]["count"]] for side in "rs")
        order = []
        while len(order) < len(r) + len(s):
            seen = sum(side == "r" for side, _, _ in order)
            here = len(order) - seen
            side, n, one = ("s", here, s[here]) if here < len(s) and s[here]["after"] <= seen else ("r", seen, r[seen])
            order.append((side, n, one))
        for side, n, one in order:
            number, other = self.counts[side], self.counts["sr"[side == "s"]]
            where = home(one["key"], self._width)
            lane = n + self._width * (where >= self._width)
            places = [number % (1 << BITS), other % (1 << BITS)]
            self.due[side, lane].append((one["key"], one["payload"], *places, where, epoch))
            self.counts[side] += 1


def payload_numbers():
    number = 0
    while True:
        yield number % 4096
        number += 1


@pytest.mark.parametrize("stall", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("width", [2, 4, 8])
def test_tuples_have_their_place_home_and_epoch(width, stall):
    dispatcher, rng, numbers = made(width), random.Random(width), Numbers(width)
    lanes = {(side, n): port for side in "rs" for n, port in enumerate(getattr(dispatcher, f"o_{side}"))}
    came = {lane: [] for lane in lanes}
    newest, halts = [], []

    async def cycle(ctx, given, epoch):
        ctx.set(dispatcher.enters, given is not None)
        ctx.set(dispatcher.epoch, epoch)
        for side in "rs" if given is not None else "":
            ctx.set(getattr(dispatcher, f"transfer_{side}"), given[side])
        values = []
        for port in lanes.values():
            ctx.set(port.ready, rng.random() >= stall)
            values += [port.valid, port.ready, port.p]
        told = (dispatcher.room, dispatcher.busy, dispatcher.newest_r, dispatcher.newest_s)
        (
            _,
            _,
            room,
            busy,
            *after,
        ) = await ctx.tick().sample(*told, *values)
        newest.append(tuple(after[:2]))
        for n, lane in enumerate(lanes):
            valid, ready, item = after[2 + 3 * n : 5 + 3 * n]
            if valid and ready:
                one = item.tuple
                came[lane].append((one.key, one.payload, one.number, one.other, item.home, item.epoch))
        return room, busy

    async def bench(ctx):
        rooms, payloads, counts = deque([0] * PENDING), payload_numbers(), [(0, 0)]
        for _ in range(400):
            enters = rooms.popleft() and rng.random() < 0.9
            given, epoch = transfer(rng, width, payloads) if enters else None, rng.getrandbits(1)
            if given is not None:
                numbers.enter(given, epoch)
            counts.append(tuple(count % (1 << BITS) for count in numbers.counts.values()))
            room, _ = await cycle(ctx, given, epoch)
            rooms.append(room)
            halts.append(not room)
        idle = 0
        while idle <= Dispatcher.LATENCY:
            _, busy = await cycle(ctx, None, 0)
            idle = 0 if busy else idle + 1
        # What has entered shows two cycles later.
        assert newest[1 : len(counts)] == counts[:-1]

    run(dispatcher, bench)
    assert came == numbers.due
    assert min(numbers.counts.values()) > 1 << BITS, "numbers wrap"
    assert any(halts[5:]) == (stall > 0.5)


def test_it_knows_what_is_timed():
    """All fields of a tuple go with it."""
    dispatcher = made(2, spans=(4, 5), time_width=8)
    seen = []

    async def bench(ctx):
        ctx.set(dispatcher.transfer_s.count, 1)
        ctx.set(dispatcher.transfer_s.slots[0], {"key": 5, "time": 77, "payload": 9, "after": 0})
        ctx.set(dispatcher.enters, 1)
        await ctx.tick()
        ctx.set(dispatcher.enters, 0)
        lanes = [dispatcher.o_s[0], dispatcher.o_s[2]]
        for _ in range(8):
            for lane in lanes:
                if ctx.get(lane.valid):
                    seen.append(ctx.get(lane.p.tuple))
                ctx.set(lane.ready, 1)
            await ctx.tick()

    run(dispatcher, bench)
    assert [(one.key, one.time, one.payload, one.number, one.other) for one in seen] == [(5, 77, 9, 0, 0)]


def test_a_tuple_of_r_near_a_border_goes_to_both_homes():
    """Once to each, with the home for which it goes; and all that are sent off are told, with their epoch."""
    predicate = parse_predicate("band:3")
    ports = TupleLayout(predicate, key_width=KEY_WIDTH, payload_width=12, width=2)
    groups = KeyGroups(-3, 3, KEY_WIDTH, SEED, home_bits=2)
    dispatcher = Dispatcher(ports, PlacedLayout.of(ports, (3, 3), BITS, 2), groups, pending=PENDING)
    came = {side: {} for side in "rs"}
    told = {0: 0, 1: 0}

    async def bench(ctx):
        lanes = [(side, port) for side in "rs" for port in getattr(dispatcher, f"o_{side}")]
        for _, port in lanes:
            ctx.set(port.ready, 1)
        for cycle in range(40 + 2 * Dispatcher.LATENCY + 20):
            enters = cycle < 40
            slots = [{"key": (3 * cycle + n) % 128, "payload": 2 * cycle + n} for n in range(2)]
            ctx.set(dispatcher.enters, enters)
            ctx.set(dispatcher.epoch, cycle < 20)
            ctx.set(dispatcher.transfer_r, {"slots": slots, "count": 2})
            ctx.set(dispatcher.transfer_s, {"slots": [slot | {"after": 2} for slot in slots], "count": 2})
            values = [value for _, port in lanes for value in (port.valid, port.p)]
            _, _, sent, epoch, *after = await ctx.tick().sample(dispatcher.sent, dispatcher.came, *values)
            told[epoch] += sent
            for n, (side, _) in enumerate(lanes):
                valid, item = after[2 * n : 2 * n + 2]
                if valid:
                    assert item.tuple.home == item.home
                    came[side].setdefault(item.tuple.payload, []).append(item.home)

    run(dispatcher, bench)
    assert came["r"].keys() == came["s"].keys() == set(range(80))
    assert all(len(homes) == 1 for homes in came["s"].values())
    assert all(len(homes) == len(set(homes)) <= 2 for homes in came["r"].values())
    assert any(len(homes) == 2 for homes in came["r"].values())
    per_epoch = {
        epoch: sum(len(homes) for side in "rs" for payload, homes in came[side].items() if (payload < 40) == epoch)
        for epoch in (0, 1)
    }
    assert told == per_epoch
