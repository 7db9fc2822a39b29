"""The expiry queue: numbers leave in order, none while somebody may look for it, and soon afterwards."""

import random
from collections import deque

import pytest

from streamjoin.hdl.hash.expiry_queue import ExpiryQueue
from tests.hdl.stream_bench import run, stepped

BITS = 6
#: Numbers less than this far apart can be told which is lower.
HALF = 1 << BITS - 1
#: Cycles from a number's way into the empty queue to its place in front, and from its death there to its leaving.
WAY, LATE = 4, 1


@pytest.mark.parametrize(
    ("depth", "comes", "ages"), [(6, 1.0, 0.7), (6, 0.2, 0.7), (9, 0.2, 0.2), (9, 0.6, 0.1), (20, 1.0, 0.1)]
)
def test_numbers_leave_in_order_once_they_are_dead(depth, comes, ages):
    """Some numbers are left out, and the horizon stands at times: it may be far below the front, or far above."""
    queue, rng = ExpiryQueue(BITS, depth), random.Random(depth)
    left, waits, horizons = [], deque(), deque(maxlen=400)

    async def bench(ctx):
        number = horizon = full = 0
        for cycle in range(1500):
            enters = not full and rng.random() < comes and number - horizon < HALF // 2
            ctx.set(queue.enters, enters)
            ctx.set(queue.number, (number if enters else rng.getrandbits(BITS)) % (1 << BITS))
            ctx.set(queue.horizon, horizon % (1 << BITS))
            _, _, leaves, full = await ctx.tick().sample(queue.leaves, queue.full)
            if leaves:
                left.append((cycle, *waits.popleft()))
                assert left[-1][1] < horizon, "it is dead"
            if enters:
                waits.append((number, cycle))
            assert len(waits) <= depth
            if waits:
                front, since = waits[0]
                before = left[-1][0] if left else 0
                # Dead for this long, in front for this long: then it should have gone.
                died = next((at for at, was in horizons if was > front), cycle)
                assert cycle < max(died + LATE, since + WAY, before + 1), f"{front} is late"
            number += rng.choice((1, 1, 2, 3)) if enters else rng.random() < 0.1
            if rng.random() < ages and horizon < number + 2:
                horizon += rng.choice((1, 1, 2, 5))
                horizons.append((cycle + 1, horizon))

    run(queue, bench)
    assert len(left) > 100
    assert left[-1][1] > 1 << BITS, "numbers wrap"


def test_one_leaves_in_every_cycle():
    """Of those that are dead, without a break."""
    enter = [{"enters": 1, "number": n, "horizon": 0} for n in range(8)]
    steps = [*enter, *[{"enters": 0}] * 4, *[{"horizon": 6}] * 12, *[{"horizon": 7}] * 4]
    leaves = [cycle for cycle, (leaves,) in enumerate(stepped(ExpiryQueue(BITS, 12), steps, ["leaves"])) if leaves]
    assert leaves == [*range(13, 19), 25]


@pytest.mark.parametrize("depth", [6, 7, 16])
def test_full_is_up_while_there_is_still_room_for_one_who_has_not_heard(depth):
    """Nobody is dead: in go as many as there is room for, less the reserve, and one or two that enter too late."""
    queue = ExpiryQueue(BITS, depth)
    entered, left = [], []

    async def bench(ctx):
        late = [0]
        for _ in range(40):
            full = late.pop(0)
            ctx.set(queue.enters, not full)
            ctx.set(queue.number, len(entered))
            _, _, now = await ctx.tick().sample(queue.full)
            late.append(now)
            entered.extend([] if full else [1])
        assert now
        ctx.set(queue.enters, 0)
        ctx.set(queue.horizon, HALF - 1)
        for _ in range(40):
            _, _, leaves, full = await ctx.tick().sample(queue.leaves, queue.full)
            left.extend([1] if leaves else [])
        assert not full

    run(queue, bench)
    assert depth - 3 <= len(entered) <= depth
    assert left == entered


def test_a_queue_without_room_is_refused():
    with pytest.raises(ValueError, match="holds more than 5 numbers, not 5"):
        ExpiryQueue(BITS, 5)
