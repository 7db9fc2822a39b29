"""The window of S1 or S2: tuples with their positions, shown and fetched, as they push each other out."""

import random

import pytest

from streamjoin.hdl.multiway.lane_bank import LaneBank
from streamjoin.hdl.multiway.window_places import WindowPlaces
from streamjoin.hdl.stashed.pair_window import PairWindow
from tests.hdl.multiway.walked_rows import held_in, shown
from tests.hdl.stashed.stash_shapes import shape
from tests.hdl.stream_bench import plain, run


@pytest.mark.parametrize(
    ("predicate", "span", "places"),
    [("equi", None, WindowPlaces(5, 4, 2)), ("band:1", 9, WindowPlaces(7, 4, 3)), ("lt", None, WindowPlaces(1, 4, 1))],
)
def test_tuples_are_shown_and_fetched_with_their_positions(predicate, span, places):
    rng, kind = random.Random(1), shape(predicate, span, lanes=places.lanes)
    window, turn = PairWindow(kind, places), 1 << kind.position
    equi, timed = kind.combination.equi, span is not None

    async def bench(ctx):
        tuples = []
        for n in range(3 * places.rows * places.lanes):
            one = {"key": rng.randrange(16), "payload": n, "time": n}
            part = {"payload": n, **({} if equi else {"key": one["key"]})}
            message = {"parts": [part], "number": 0, "some": 1, "last": 1}
            message |= {"key": one["key"]} if equi else {}
            message |= {"time": n} if timed else {}
            ctx.set(window.message, message)
            ctx.set(window.store, 1)
            await ctx.tick()
            ctx.set(window.store, 0)
            tuples.append(one)
            live = tuples[-places.window :]
            assert ctx.get(window.next) == len(tuples) % turn
            assert ctx.get(window.first) == (len(tuples) - len(live)) % turn
            assert not ctx.get(window.empty)
            await ctx.tick().repeat(2)
            view = ctx.get(window.view)
            resting = await shown(ctx, window, places, LaneBank.LATENCY, view)
            compared = ("key", "time") if timed else ("key",)
            assert resting == [{name: each[name] for name in compared} for each in live]
            for (row, lane), each in zip(held_in(places, view), live, strict=True):
                ctx.set(window.wanted, {"row": row, "lane": lane})
                await ctx.tick()
                part = {"payload": each["payload"], **({} if equi else {"key": each["key"]})}
                expected = {
                    "part": part,
                    "position": each["payload"] % turn,
                    **({"time": each["time"]} if timed else {}),
                }
                assert plain(ctx.get(window.fetched)) == expected

    run(window, bench)


def test_an_empty_window_says_so():
    window, seen = PairWindow(shape(), WindowPlaces(5, 4, 2)), []

    async def bench(ctx):
        for store in (0, 1, 0):
            ctx.set(window.store, store)
            _, _, empty = await ctx.tick().sample(window.empty)
            seen.append(empty)

    run(window, bench)
    assert seen == [1, 1, 0]
