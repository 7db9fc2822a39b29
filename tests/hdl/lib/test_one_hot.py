"""One-hot codes: which bit wins, what it selects, and its number."""

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from streamjoin.hdl.lib.one_hot import highest_set, one_hot_encode, one_hot_mux


@pytest.mark.parametrize("width", [1, 2, 5])
def test_the_highest_bit_wins_selects_and_has_its_number(width):
    m = Module()
    bits, one_hot = Signal(width), Signal(width)
    values = [Signal(4, init=3 * n + 1) for n in range(width)]
    selected, number = Signal(4), Signal(range(width))
    m.d.comb += [
        one_hot.eq(highest_set(bits)),
        selected.eq(one_hot_mux(one_hot, values)),
        number.eq(one_hot_encode(one_hot)),
    ]

    async def bench(ctx):
        for given in range(1 << width):
            ctx.set(bits, given)
            highest = given.bit_length() - 1
            assert ctx.get(one_hot) == (1 << highest if given else 0)
            assert ctx.get(selected) == (3 * highest + 1 if given else 0)
            assert ctx.get(number) == max(0, highest)

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
