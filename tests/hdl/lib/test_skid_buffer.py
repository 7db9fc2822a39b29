"""The skid buffer: everything in order, an item a cycle, and two of them where nobody takes any."""

import pytest
from amaranth.lib import data

from streamjoin.hdl.lib.skid_buffer import SkidBuffer
from tests.hdl.stream_bench import run, sink, source

ITEM = data.StructLayout({"low": 3, "high": 5})
ITEMS = [{"low": n % 7, "high": n % 31} for n in range(120)]


def passed(stall_in: float, stall_out: float):
    buffer, out = SkidBuffer(ITEM), []
    run(buffer, source(buffer.i, ITEMS, stall_in), sink(buffer.o, len(ITEMS), out, stall_out))
    assert [{"low": item.low, "high": item.high} for _, item in out] == ITEMS
    return [cycle for cycle, _ in out]


@pytest.mark.parametrize("stall_in", [0.0, 0.4, 0.8])
@pytest.mark.parametrize("stall_out", [0.0, 0.4, 0.8])
def test_order_is_kept(stall_in, stall_out):
    passed(stall_in, stall_out)


def test_an_item_a_cycle_the_first_in_the_next():
    assert passed(0, 0) == list(range(1, len(ITEMS) + 1))


def test_two_wait():
    buffer, taken = SkidBuffer(ITEM), []

    async def offers(ctx):
        ctx.set(buffer.i.valid, 1)
        for _ in range(5):
            _, _, ready, valid, busy = await ctx.tick().sample(buffer.i.ready, buffer.o.valid, buffer.busy)
            taken.append((ready, valid, busy))

    run(buffer, offers)
    assert taken == [(1, 0, 0), (1, 1, 1), (0, 1, 1), (0, 1, 1), (0, 1, 1)]
