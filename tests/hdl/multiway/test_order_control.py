"""Order control: an arrival sees the window that it passed, whenever it asks."""

import random
from collections import deque

import pytest

from streamjoin.hdl.multiway.order_control import OrderControl, WindowView
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

    run(order, bench)


@pytest.mark.parametrize("places", SIZES, ids=str)
def test_a_window_moves_on_as_tuples_enter(places):
    """The view holds the places of the last tuples, oldest first; the next one goes to a place beyond them."""
    rng, view = random.Random(3), WindowView(places)

    async def bench(ctx):
        window = deque(maxlen=places.window)
        for _ in range(4 * places.rows * places.lanes):
            held = seen(places, ctx.get(view.view))
            assert held == list(window)
            assert ctx.get(view.empty) == (not window)
            assert ctx.get(view.full) == (len(window) == places.window)
            free = ctx.get(view.free)
            place = free["row"] * places.lanes + free["lane"]
            if places.slack:
                assert place not in held
            enters = rng.random() < 0.8
            ctx.set(view.store, enters)
            if enters:
                window.append(place)
            await ctx.tick()

    run(view, bench)
