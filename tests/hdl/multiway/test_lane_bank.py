"""Lanes and the walk along them: each tuple of a view once, a row a cycle, wherever in a row the view begins."""

import random

import pytest
from amaranth.hdl import Module

from streamjoin.hdl.multiway.lane_bank import LaneBank, Walk
from streamjoin.hdl.multiway.window_places import WindowPlaces
from tests.hdl.stream_bench import run

SIZES = [
    WindowPlaces(1, 1, 1),
    WindowPlaces(5, 3, 1),
    WindowPlaces(4, 4, 4),
    WindowPlaces(7, 2, 3),
    WindowPlaces(3, 9, 8),
    WindowPlaces(16, 4, 5),
]


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

    both = Module()
    both.submodules += [bank, walk]
    run(both, bench)


def test_what_is_stored_can_be_shown_two_cycles_later():
    """And nothing counts in a cycle in which nothing is shown."""
    places = WindowPlaces(8, 0, 4)
    bank, seen = LaneBank(16, places), []
    row = {"row": 1, "lane": 0, "next_row": 0, "further": 0, "rest": 0, "last": 0}

    async def bench(ctx):
        ctx.set(bank.row, row)
        for cycle in range(9):
            ctx.set(bank.store, cycle == 0)
            ctx.set(bank.place, {"lane": 2, "row": 1})
            ctx.set(bank.item, 77)
            ctx.set(bank.show, cycle == 2)
            _, _, counts, item = await ctx.tick().sample(bank.counts, bank.resting[2])
            seen.append((counts, item if counts else None))

    run(bank, bench)
    assert seen == [(0b1111, 77) if cycle == 2 + bank.LATENCY else (0, None) for cycle in range(9)]
