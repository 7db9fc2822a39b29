"""The packer: what is there leaves in one transfer, first slots first, each item once and in the order of its input."""

import random

import pytest

from streamjoin.hdl.hash.result_packer import Packer
from tests.hdl.stream_bench import run, source

COUNT = 60


def transfers(port, into: list, items: int, stall: float):
    """A bench that takes transfers until so many items have come, each as a list of its items."""
    rng = random.Random(3)

    async def bench(ctx):
        for _ in range(5000):
            ctx.set(port.ready, rng.random() >= stall)
            _, _, valid, ready, transfer = await ctx.tick().sample(port.valid, port.ready, port.p)
            if valid and ready:
                into.append([transfer.slots[n] for n in range(transfer.count)])
            if sum(map(len, into)) == items:
                return
        raise AssertionError(f"{sum(map(len, into))} of {items} items came")

    return bench


@pytest.mark.parametrize(("giving", "taking"), [(0.0, 0.0), (0.7, 0.0), (0.0, 0.7), (0.5, 0.5)])
@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_each_item_comes_once_and_in_order(lanes, giving, taking):
    packer, came = Packer(16, lanes), []
    items = [[lane << 8 | n for n in range(COUNT)] for lane in range(lanes)]
    sources = [source(packer.i[lane], items[lane], giving, seed=lane) for lane in range(lanes)]
    run(packer, *sources, transfers(packer.o, came, lanes * COUNT, taking))
    assert min(map(len, came)) > 0, "no transfer is empty"
    assert all(transfer == sorted(transfer) for transfer in came), "by their lanes"
    found = [item for transfer in came for item in transfer]
    assert [[item for item in found if item >> 8 == lane] for lane in range(lanes)] == items
    if not giving and not taking:
        assert [len(transfer) for transfer in came] == [lanes] * COUNT


def test_it_is_busy_while_something_is_inside():
    packer, busy = Packer(16, 2), []

    async def bench(ctx):
        ctx.set(packer.i[1].valid, 1)
        await ctx.tick()
        ctx.set(packer.i[1].valid, 0)
        for cycle in range(20):
            ctx.set(packer.o.ready, cycle > 8)
            busy.append(ctx.get(packer.busy))
            await ctx.tick()

    run(packer, bench)
    assert busy == [1] * 10 + [0] * 10
