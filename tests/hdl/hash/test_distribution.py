"""The distribution network: everything arrives at its home, once, and in order where it takes the same way."""

import random
from itertools import pairwise

import pytest
from amaranth.lib import data

from streamjoin.hdl.hash.distribution import Distribution, Switch
from tests.hdl.stream_bench import run

#: Items of each lane.
COUNT = 60


def through(part, lanes, stalls, seed):
    """What comes out of each port: cycle, home, lane and number; and when ``busy`` was down with something inside."""
    ins = [random.Random(f"{seed}i{n}") for n in range(len(part.i))]
    outs = [random.Random(f"{seed}o{n}") for n in range(len(part.o))]
    stall_in, stall_out = stalls
    came: list[list[tuple[int, int, int]]] = [[] for _ in part.o]
    due = sum(map(len, lanes))
    unheard = []

    async def bench(ctx):
        waiting, idle, inside = [[*lane] for lane in lanes], 0, 0
        # To hold back an item that is offered would break the rules of streams.
        offered = [False] * len(lanes)
        for cycle in range(20_000):
            for n, port in enumerate(part.i):
                offered[n] = bool(waiting[n]) and (offered[n] or ins[n].random() >= stall_in)
                ctx.set(port.valid, offered[n])
                item = waiting[n][0] if offered[n] else {name: ins[n].getrandbits(1) for name in ("lane", "home")}
                ctx.set(port.p, item)
            for n, port in enumerate(part.o):
                ctx.set(port.ready, outs[n].random() >= stall_out)
            values = [value for port in (*part.i, *part.o) for value in (port.valid, port.ready, port.p)]
            _, _, *seen, busy = await ctx.tick().sample(*values, part.busy)
            ports = [seen[3 * n : 3 * n + 3] for n in range(len(seen) // 3)]
            if inside and not busy:
                unheard.append(cycle)
            for n, (valid, ready, _) in enumerate(ports[: len(part.i)]):
                if valid and ready:
                    waiting[n].pop(0)
                    offered[n] = False
            for n, (valid, ready, item) in enumerate(ports[len(part.i) :]):
                if valid and ready:
                    came[n].append((cycle, item.home, item.lane, item.number))
            gone = due - sum(map(len, waiting))
            inside = gone - sum(map(len, came))
            idle = 0 if inside or any(waiting) else idle + 1
            if idle == 4:
                assert not busy
                return
        raise AssertionError(f"stuck with {inside} items inside")

    run(part, bench)
    return came, unheard


def item_layout(homes, lanes):
    return data.StructLayout({"number": 12, "home": range(homes), "lane": range(lanes)})


@pytest.mark.parametrize("stalls", [(0.0, 0.0), (0.6, 0.0), (0.0, 0.7), (0.4, 0.4)], ids=str)
@pytest.mark.parametrize(("bit", "depth"), [(0, 2), (1, 5)])
def test_a_switch_goes_by_a_bit_of_the_home(bit, depth, stalls):
    rng, shape = random.Random(depth), item_layout(4, 2)
    lanes = [[{"number": n, "home": rng.randrange(4), "lane": lane} for n in range(COUNT)] for lane in range(2)]
    came, unheard = through(Switch(shape, bit, depth), lanes, stalls, depth)
    assert not unheard, "what is inside shows at once"
    for way, items in enumerate(came):
        for lane in range(2):
            expected = [(one["home"], lane, one["number"]) for one in lanes[lane] if one["home"] >> bit & 1 == way]
            assert [tuple(item) for _, *item in items if item[1] == lane] == expected


@pytest.mark.parametrize("way", [0, 1])
def test_two_lanes_of_the_same_way_take_turns(way):
    shape = item_layout(2, 2)
    lanes = [[{"number": n, "home": way, "lane": lane} for n in range(COUNT)] for lane in range(2)]
    came, _ = through(Switch(shape, 0, 4), lanes, (0.0, 0.0), 1)
    cycles = [cycle for cycle, *_ in came[way]]
    assert cycles == [*range(cycles[0], cycles[0] + 2 * COUNT)], "one in every cycle"
    both = [lane for _, _, lane, _ in came[way]]
    assert abs(both[:COUNT].count(0) - both[:COUNT].count(1)) <= 2


@pytest.mark.parametrize("stalls", [(0.0, 0.0), (0.6, 0.0), (0.0, 0.7), (0.4, 0.4)], ids=str)
@pytest.mark.parametrize(("units", "depth"), [(2, 2), (4, 2), (8, 3), (16, 2)])
def test_everything_arrives_at_its_home(units, depth, stalls):
    """Once, and of a lane in order: lanes of each half have the items of its homes."""
    rng, shape = random.Random(units), item_layout(units, units)
    half = units // 2
    lanes = [
        [{"number": n, "home": lane // half * half + rng.randrange(half), "lane": lane} for n in range(COUNT)]
        for lane in range(units)
    ]
    came, unheard = through(Distribution(shape, units, depth), lanes, stalls, units)
    for home, items in enumerate(came):
        assert {at for _, at, _, _ in items} <= {home}
        for lane in range(units):
            expected = [one["number"] for one in lanes[lane] if one["home"] == home]
            assert [number for _, _, origin, number in items if origin == lane] == expected
    if units > 2:
        assert all(later - sooner > 1 for sooner, later in pairwise(unheard)), "what is inside shows a cycle later"


def test_lanes_that_never_meet_pass_in_every_cycle():
    """Each lane has the items of the home straight ahead."""
    units, shape = 8, item_layout(8, 8)
    lanes = [[{"number": n, "home": lane, "lane": lane} for n in range(COUNT)] for lane in range(units)]
    came, _ = through(Distribution(shape, units, 2), lanes, (0.0, 0.0), 1)
    for items in came:
        cycles = [cycle for cycle, *_ in items]
        assert cycles == [*range(cycles[0], cycles[0] + COUNT)]
        assert cycles[0] <= 8
