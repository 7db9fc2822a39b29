"""The stash: what it holds, shows and gives up, and when it is complete, against plain Python."""

import random

import pytest
from amaranth.lib import data

from streamjoin.hdl.multiway.lane_bank import LaneBank
from streamjoin.hdl.multiway.window_places import WindowPlaces
from streamjoin.hdl.stashed.stash import Stash
from tests.hdl.multiway.walked_rows import held_in, shown
from tests.hdl.stream_bench import plain, run

WIDTH = 6
COMPARED = data.StructLayout({"keys": 8, "one": WIDTH, "two": WIDTH})
PARTS = data.StructLayout({"one": 10, "two": 10})


async def contents(ctx, stash, places) -> list:
    """All pairs that the stash holds, the oldest first, as they are shown and as their parts are fetched."""
    view = ctx.get(stash.view)
    compared = await shown(ctx, stash, places, LaneBank.LATENCY, view)
    pairs = []
    for (row, lane), one in zip(held_in(places, view), compared, strict=True):
        ctx.set(stash.wanted, {"row": row, "lane": lane})
        await ctx.tick()
        pairs.append((one, plain(ctx.get(stash.fetched))))
    return pairs


@pytest.mark.parametrize("places", [WindowPlaces(1, 0, 1), WindowPlaces(5, 0, 2), WindowPlaces(12, 0, 4)], ids=str)
def test_a_pair_that_lives_is_shown_or_known_to_be_lost(places):
    """Positions go round, but an epoch empties the stash before they could be mistaken.

    What is held is what came last, as it came: keys, positions and parts, in their order.
    """
    rng, stash, window = random.Random(3), Stash(COMPARED, PARTS, places), 4
    turn = 1 << WIDTH

    async def bench(ctx):
        upcoming = {"one": 0, "two": 0}
        #: All that came since the stash was emptied; those that live and are lost; and how often it was complete.
        came, lost, complete, read = [], [], 0, 0

        def lives(pair):
            return all(pair[side] >= first[side] for side in upcoming)

        for number in range(400):
            name = rng.choice(("one", "two"))
            epoch = upcoming[name] % (turn // 4) == turn // 4 - 1
            upcoming[name] += 1
            first = {side: max(0, upcoming[side] - window) for side in upcoming}
            ctx.set(stash.first, {side: place % turn for side, place in first.items()})
            ctx.set(stash.newest, {side: (place - 1) % turn for side, place in upcoming.items()})
            if epoch:
                lost += came
                came = []
            ctx.set(stash.epoch, epoch)
            await ctx.tick()
            ctx.set(stash.epoch, 0)
            for several in range(rng.choice((0, 0, 1, 1, 3))):
                pair = {side: rng.randint(first[side], max(0, upcoming[side] - 1)) for side in upcoming}
                entry = {"keys": number % 256, **{side: place % turn for side, place in pair.items()}}
                parts = {"one": number, "two": several}
                ctx.set(stash.i.p, {"compared": entry, "parts": parts})
                ctx.set(stash.i.valid, 1)
                await ctx.tick().until(stash.i.ready)
                ctx.set(stash.i.valid, 0)
                came.append({**pair, "held": (entry, parts)})
            await ctx.tick().repeat(2 * places.window + 4)
            held = await contents(ctx, stash, places)
            gone, came = came[: len(came) - len(held)], came[len(came) - len(held) :]
            assert held == [pair["held"] for pair in came]
            assert not came or lives(came[0]), "the oldest is given up when it lives no longer"
            read += len(held)
            lost = [pair for pair in lost + gone if lives(pair)]
            claims = ctx.get(stash.complete)
            assert not (claims and lost), "a live pair is lost, and the stash claims to be complete"
            complete += claims
        assert complete > 50
        assert read > 100

    run(stash, bench)


def test_a_full_stash_takes_a_pair_in_every_second_cycle_any_other_in_every_one():
    places = WindowPlaces(4, 0, 2)
    stash, taken = Stash(COMPARED, PARTS, places), []

    async def bench(ctx):
        ctx.set(stash.newest, {"one": 20, "two": 20})
        ctx.set(stash.i.valid, 1)
        for cycle in range(12):
            ctx.set(stash.i.p, {"compared": {"keys": 0, "one": 20, "two": 20}, "parts": {"one": 0, "two": 0}})
            _, _, ready = await ctx.tick().sample(stash.i.ready)
            if ready:
                taken.append(cycle)

    run(stash, bench)
    assert taken == [0, 1, 2, 3, 5, 7, 9, 11]
