"""The stash: what it shows, what it gives up, and when it is complete, against plain Python."""

import random

import pytest
from amaranth.lib import data
from amaranth.sim import Simulator

from streamjoin.hdl.multiway.window_places import WindowPlaces
from streamjoin.hdl.stashed.stash import Stash

WIDTH = 6
COMPARED = data.StructLayout({"keys": 8, "one": WIDTH, "two": WIDTH})
PARTS = data.StructLayout({"one": 8, "two": 8})


@pytest.mark.parametrize("places", [WindowPlaces(1, 0, 1), WindowPlaces(5, 0, 2), WindowPlaces(12, 0, 4)], ids=str)
def test_a_pair_that_lives_is_shown_or_known_to_be_lost(places):
    """Positions go round, but an epoch empties the stash before they could be mistaken."""
    rng, stash, window = random.Random(3), Stash(COMPARED, PARTS, places), 4
    turn = 1 << WIDTH

    async def bench(ctx):
        upcoming = {"one": 0, "two": 0}
        live, lost, complete_again = [], set(), 0
        for number in range(500):
            name = rng.choice(("one", "two"))
            epoch = upcoming[name] % (turn // 4) == turn // 4 - 1
            upcoming[name] += 1
            first = {side: max(0, upcoming[side] - window) for side in upcoming}
            live = [pair for pair in live if all(pair[side] >= first[side] for side in upcoming)]
            lost = {pair for pair in lost if pair[0] >= first["one"] and pair[1] >= first["two"]}
            ctx.set(stash.first, {side: place % turn for side, place in first.items()})
            ctx.set(stash.newest, {side: (place - 1) % turn for side, place in upcoming.items()})
            if epoch:
                lost |= {(pair["one"], pair["two"]) for pair in live}
                live = []
            ctx.set(stash.epoch, epoch)
            await ctx.tick()
            ctx.set(stash.epoch, 0)
            for _ in range(rng.choice((0, 0, 1, 1, 3))):
                pair = {side: rng.randint(first[side], max(0, upcoming[side] - 1)) for side in upcoming}
                entry = {"keys": number % 256, **{side: place % turn for side, place in pair.items()}}
                ctx.set(stash.i.p, {"compared": entry, "parts": {"one": 1, "two": 2}})
                ctx.set(stash.i.valid, 1)
                await ctx.tick().until(stash.i.ready)
                ctx.set(stash.i.valid, 0)
                live.append(pair)
            await ctx.tick().repeat(2 * places.window + 4)
            view = ctx.get(stash.view)
            held = view["whole"] * places.lanes + view["rest"]
            lost |= {(pair["one"], pair["two"]) for pair in live[: -held or None] if held < len(live)}
            live = live[-held:] if held else []
            complete = ctx.get(stash.complete)
            assert not (complete and lost), "a live pair is lost, and the stash claims to be complete"
            complete_again += complete
        assert complete_again > 50

    simulator = Simulator(stash)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
