"""The flight guard: nobody is overtaken by more than two epochs of transfers, and nobody is held back without need."""

import random
from itertools import pairwise

import pytest

from streamjoin.hdl.hash.flight_guard import FlightGuard
from streamjoin.hdl.hash.parameters import FLIGHT_OVERSHOOT
from tests.hdl.stream_bench import run

#: Cycles in which transfers still enter after the guard has asked for a halt: more than in the join.
LATE = 10


def adding(ways: int) -> int:
    """Cycles until arrivals have been added up."""
    return next(levels for levels in range(9) if 4**levels >= ways)


def enter(ctx, guard, count):
    """A transfer of so many tuples, of the epoch that it is; ``None``: there is none."""
    ctx.set(guard.enters, count is not None)
    ctx.set(guard.count, count or 0)
    ctx.set(guard.came, ctx.get(guard.now))


@pytest.mark.parametrize(("epoch", "lasting", "ways"), [(2, 3, 1), (7, 40, 5), (30, 3, 4), (2, 100, 16), (30, 400, 16)])
def test_a_tuple_is_overtaken_by_two_epochs_at_most(epoch, lasting, ways):
    """Transfers of any number of tuples, which take some time, and arrive at random ways, one at each in a cycle."""
    rng, most = random.Random(epoch), 5
    guard = FlightGuard(epoch, most, ways)
    seen, said = [], []

    async def bench(ctx):
        entered, halts = 0, [0] * LATE
        tuples: list[tuple[int, int, int]] = []  # when it arrives, its epoch, what had entered with it
        idle = 0
        for cycle in range(2000):
            halted, enters = halts.pop(0), rng.random() < 0.9
            count = rng.randint(1, most)
            enters = enters and not halted and len(tuples) < most * 4 * epoch - most and cycle < 1500
            landing = [one for one in tuples if one[0] <= cycle][: rng.randint(0, ways)]
            places = rng.sample(range(ways), len(landing))
            enter(ctx, guard, count if enters else None)
            for way in range(ways):
                ctx.set(guard.done[way], {"some": 0, "epoch": rng.getrandbits(1)})
            for way, one in zip(places, landing, strict=True):
                ctx.set(guard.done[way], {"some": 1, "epoch": one[1]})
            _, _, halt, now, flying = await ctx.tick().sample(guard.halt, guard.now, guard.flying)
            idle = idle + 1 if not tuples else 0
            said.append(halt)
            halts.append(halt)
            if enters:
                idle, entered = 0, entered + 1
            # What enters shows, until it has landed.
            assert flying or not any(one[3] < cycle - 2 for one in tuples)
            assert not flying or idle <= adding(ways) + 2
            for one in landing:
                tuples.remove(one)
                seen.append(entered - enters - one[2])
            if enters:
                tuples += [(cycle + 1 + rng.randrange(2 * lasting), now, entered, cycle) for _ in range(count)]

    run(guard, bench)
    assert len(seen) > 100
    # Transfers come late once for the epoch of a tuple, and once for the next one.
    assert max(seen) <= 2 * (epoch + LATE + 1) + adding(ways)
    if lasting > 10 * epoch:
        assert max(seen) > 2 * epoch, "tuples were long enough on their way to be waited for"
        assert any(said)


def test_the_join_counts_on_no_more_late_transfers_than_it_allows_for():
    assert 2 * (LATE + 1) + adding(32) <= FLIGHT_OVERSHOOT


def counted(guard, steps):
    """What the guard says in each cycle; ``done`` is a list of epochs of tuples that arrive."""
    told = []

    async def bench(ctx):
        for step in steps:
            enter(ctx, guard, step.get("count"))
            for way in range(len(guard.done)):
                some = way < len(step.get("done", ()))
                ctx.set(guard.done[way], {"some": some, "epoch": step["done"][way] if some else 1})
            _, _, *row = await ctx.tick().sample(guard.now, guard.halt, guard.flying)
            told.append(tuple(row))

    run(guard, bench)
    return told


def test_epochs_follow_each_other_while_nobody_flies():
    """Transfers whose tuples arrive at once."""
    told = counted(FlightGuard(4, 2, 2), [{"count": 0}] * 50)
    assert not any(halt or flying for _, halt, flying in told)
    changes = [cycle for cycle in range(1, 50) if told[cycle][0] != told[cycle - 1][0]]
    assert {later - sooner for sooner, later in pairwise(changes)} == {5}


def test_the_epoch_before_halts_until_all_of_it_have_arrived():
    """Those that came later do not matter."""
    enter = {"count": 2}
    # Six tuples in epoch 0, six in epoch 1: then epoch 1 is over, and lasts on.
    steps = [*[enter] * 3, {}, *[enter] * 3, *[{}] * 5]
    steps += [{"done": [0, 0, 1]}, {"done": [0, 0]}, {"done": [1, 1, 0]}, *[{}] * 6, {"done": [0]}, *[{}] * 8]
    told = counted(FlightGuard(3, 2, 3), steps)
    last = next(n for n, step in enumerate(steps) if step.get("done") == [0])
    halted = [cycle for cycle, (_, halt, _) in enumerate(told) if halt]
    assert halted == list(range(halted[0], halted[-1] + 1))
    assert 6 <= halted[0] <= 9
    assert last < halted[-1] <= last + 4
    assert [told[cycle][0] for cycle in (0, 6, last, len(told) - 1)] == [0, 1, 1, 0]
    assert told[-1][2], "three of epoch 1 are still flying"


def test_what_enters_while_others_arrive_is_counted():
    """In the same epoch, and in the other one."""
    both = {"count": 2, "done": [0, 0]}
    steps = [{"count": 2}, both, both, {}, *[{}] * 5, {"count": 1, "done": [0, 0]}, *[{}] * 6]
    told = counted(FlightGuard(3, 2, 2), steps)
    assert told[-1] == (1, 0, 1)
    told = counted(FlightGuard(3, 2, 2), [*steps, {"done": [1]}, *[{}] * 4])
    assert told[-1] == (1, 0, 0)
