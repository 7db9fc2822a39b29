"""The slack guard: no walk outlives two epochs of arrivals, and nobody is held back without need."""

import random
from itertools import pairwise

import pytest

from streamjoin.hdl.hash.slack_guard import SlackGuard
from streamjoin.hdl.hash.window_ring import OVERSHOOT
from tests.hdl.stream_bench import run

#: Cycles in which tuples still come after the guard has asked for a halt: more than in the join.
LATE = 10


@pytest.mark.parametrize(("epoch", "lasting"), [(2, 3), (7, 40), (30, 3), (2, 100), (30, 400)])
@pytest.mark.parametrize("most", [1, 5])
def test_a_walk_sees_two_epochs_at_most(epoch, most, lasting):
    rng = random.Random(epoch)
    guard = SlackGuard(epoch, most)
    seen = []

    async def bench(ctx):
        arrived, halts = 0, [0] * LATE
        walks: list[tuple[int, int, int]] = []  # when it ends, its epoch, what had arrived before it
        for cycle in range(2500):
            halted, arrives = halts.pop(0), rng.random() < 0.9
            arrives = arrives and not halted
            ending = next((walk for walk in walks if walk[0] <= cycle), None)
            begins = len(walks) < most and rng.random() < 0.3
            ctx.set(guard.arrives, arrives)
            ctx.set(guard.begins, begins)
            ctx.set(guard.ends, ending is not None)
            ctx.set(guard.ended, ending[1] if ending else rng.getrandbits(1))
            _, _, halt, now = await ctx.tick().sample(guard.halt, guard.now)
            halts.append(halt)
            if ending:
                walks.remove(ending)
                seen.append(arrived - ending[2])
            if begins:
                walks.append((cycle + 1 + rng.randrange(2 * lasting), now, arrived))
            arrived += arrives

    run(guard, bench)
    assert len(seen) > 3
    # Tuples come late once for the epoch in which a walk began, and once for the next one.
    assert max(seen) <= 2 * (epoch + LATE + 1)
    assert 2 * (LATE + 1) <= OVERSHOOT
    if lasting > 10 * epoch:
        assert max(seen) > 2 * epoch, "walks were long enough to be waited for"


def counted(guard, steps):
    """What the guard says in each cycle."""
    told = []

    async def bench(ctx):
        for step in steps:
            for name in ("arrives", "begins", "ends", "ended"):
                ctx.set(getattr(guard, name), step.get(name, 0))
            _, _, now, halt = await ctx.tick().sample(guard.now, guard.halt)
            told.append((now, halt))

    run(guard, bench)
    return told


def test_epochs_follow_each_other_while_nobody_walks():
    told = counted(SlackGuard(4, 1), [{"arrives": 1}] * 50)
    assert not any(halt for _, halt in told)
    changes = [cycle for cycle in range(1, 50) if told[cycle][0] != told[cycle - 1][0]]
    assert {later - sooner for sooner, later in pairwise(changes)} == {5}


def test_a_walk_of_the_epoch_before_halts_until_it_has_ended():
    """Another one that began later does not matter."""
    begin, arrive = {"begins": 1}, {"arrives": 1}
    # Both begin in epoch 0, and end in epoch 1; a third begins and stays.
    steps = [begin, begin, arrive, arrive, arrive, {}, {}, begin, *[arrive] * 3, *[{}] * 5]
    steps += [{"ends": 1, "ended": 0}, *[{}] * 5, {"ends": 1, "ended": 0}, *[{}] * 5]
    told = counted(SlackGuard(3, 3), steps)
    halted = [cycle for cycle, (_, halt) in enumerate(told) if halt]
    assert halted, "the first two have not ended"
    assert halted == list(range(halted[0], halted[-1] + 1))
    assert halted[0] < 16 <= 22 <= halted[-1] < 26
    assert [told[cycle][0] for cycle in (0, 8, 20, 27)] == [0, 1, 1, 0]


def test_a_walk_that_begins_while_another_ends_is_counted():
    """In the same epoch, and in the other one."""
    both = {"begins": 1, "ends": 1, "ended": 0}
    steps = [{"begins": 1}, both, *[{"arrives": 1}] * 3, {}, {}, both, *[{"arrives": 1}] * 3, *[{}] * 5]
    # One is left, and it is of epoch 1: so epoch 1 ends, and epoch 2 does not.
    told = counted(SlackGuard(3, 2), [*steps, *[{"arrives": 1}] * 3, *[{}] * 5])
    assert not any(halt for _, halt in told[: len(steps)])
    assert told[len(steps) - 1][0] == 0
    assert told[-1] == (0, 1)


def test_an_epoch_of_one_arrival_is_refused():
    with pytest.raises(ValueError, match="at least two arrivals, not 1"):
        SlackGuard(1, 4)
