"""Parts that keep the windows of multi-way joins, against plain Python."""

import random
from collections import deque

import pytest
from amaranth.hdl import Module
from amaranth.sim import Simulator

from streamjoin.hdl.multiway.lane_bank import LaneBank, Walk
from streamjoin.hdl.multiway.match_arbiter import MatchArbiter
from streamjoin.hdl.multiway.order_control import OrderControl
from streamjoin.hdl.multiway.window_places import WindowPlaces

SIZES = [
    WindowPlaces(*sizes)
    for sizes in ((1, 1, 1), (5, 3, 1), (4, 4, 4), (7, 2, 3), (3, 9, 8), (16, 4, 5))  # window, slack, lanes
]


def run(parts, bench) -> None:
    m = Module()
    m.submodules += parts
    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def seen(places, view) -> list[int]:
    """The places of a view, each as a number, the oldest first."""
    first = view["first"]["row"] * places.lanes + view["first"]["lane"]
    return [(first + n) % (places.rows * places.lanes) for n in range(view["whole"] * places.lanes + view["rest"])]


@pytest.mark.parametrize("places", SIZES, ids=str)
def test_an_arrival_sees_the_window_that_it_passed(places):
    """Whatever passes after it: its view holds the last tuples of the stream before it, in their places."""
    rng, bits = random.Random(1), 4
    order = OrderControl(places, bits)

    async def bench(ctx):
        window, views = deque(maxlen=places.window), {}
        for n in range(300):
            passes, own = rng.random() < 0.8, rng.random() < 0.6
            ctx.set(order.passes, passes)
            ctx.set(order.own, own)
            ctx.set(order.number, n % (1 << bits))
            if passes:
                views[n % (1 << bits)] = list(window)
            if passes and own:
                free = ctx.get(order.free)
                window.append(free["row"] * places.lanes + free["lane"])
            await ctx.tick()
            ctx.set(order.passes, 0)
            asked = rng.choice(list(views) or [None])
            if asked is not None:
                ctx.set(order.asked, asked)
                await ctx.tick()
                assert seen(places, ctx.get(order.view)) == views[asked]

    run([order], bench)


@pytest.mark.parametrize("places", SIZES, ids=str)
def test_a_walk_shows_each_tuple_of_a_view_once_and_takes_a_cycle_for_each_row(places):
    rng = random.Random(2)
    bank, walk = LaneBank(16, places), Walk(places)
    capacity = places.rows * places.lanes

    async def bench(ctx):
        for number in range(capacity):
            ctx.set(bank.place, {"lane": number % places.lanes, "row": number // places.lanes})
            ctx.set(bank.item, 1000 + number)
            ctx.set(bank.store, 1)
            await ctx.tick()
        ctx.set(bank.store, 0)
        for _ in range(20):
            first, count = rng.randrange(capacity), rng.randint(1, places.window)
            place = {"lane": first % places.lanes, "row": first // places.lanes}
            view = {"first": place, "whole": count // places.lanes, "rest": count % places.lanes}
            ctx.set(walk.view, view)
            ctx.set(walk.begin, 1)
            await ctx.tick()
            ctx.set(walk.begin, 0)
            shown, rows = [], 0
            while ctx.get(walk.walking):
                rows += 1
                ctx.set(bank.row, ctx.get(walk.row))
                ctx.set(bank.show, 1)
                ctx.set(walk.step, 1)
                await ctx.tick()
                ctx.set(walk.step, 0)
                ctx.set(bank.show, 0)
                await ctx.tick().repeat(bank.LATENCY - 1)
                counts = ctx.get(bank.counts)
                shown += [ctx.get(bank.resting[lane]) - 1000 for lane in range(places.lanes) if counts >> lane & 1]
            assert sorted(shown) == sorted((first + n) % capacity for n in range(count))
            assert rows == -(-count // places.lanes)

    run([bank, walk], bench)


def test_hits_are_picked_one_by_one_and_the_last_says_so():
    places = WindowPlaces(8, 0, 4)
    arbiter = MatchArbiter(places, 2)

    def told(ctx):
        return tuple(ctx.get(port) for port in (arbiter.picked, arbiter.some, arbiter.last, arbiter.release))

    async def push(ctx, line, **match):
        where = {"lane": 2, "row": 0, "next_row": 1}
        ctx.set(arbiter.matches[line].p, {**where, **match})
        ctx.set(arbiter.matches[line].valid, 1)
        await ctx.tick().until(arbiter.matches[line].ready)
        ctx.set(arbiter.matches[line].valid, 0)

    async def bench(ctx):
        ctx.set(arbiter.known, 3)
        ctx.set(arbiter.says_last, 1)
        await push(ctx, 0, found=0b0110, last=1)
        await push(ctx, 1, found=0b1000, last=1)
        ctx.set(arbiter.room, 3)
        # The second line goes first; it is not its arrival's last word. A tuple before lane 2 is in the next row.
        picked = []
        for _ in range(3):
            await ctx.tick()
            picked.append((*told(ctx), ctx.get(arbiter.place.row), ctx.get(arbiter.place.lane)))
        assert picked == [(2, 1, 0, 2, 0, 3), (1, 1, 0, 0, 1, 1), (1, 1, 1, 1, 0, 2)]
        await ctx.tick()
        assert ctx.get(arbiter.picked) == 0
        # Nothing found: an end is picked where one is to be told, else the line goes on without.
        await push(ctx, 0, found=0, last=1)
        await ctx.tick()
        assert told(ctx) == (1, 0, 1, 1)
        await push(ctx, 1, found=0, last=1)
        await ctx.tick()
        assert [ctx.get(port) for port in (arbiter.picked, arbiter.release)] == [0, 2]

    run([arbiter], bench)
