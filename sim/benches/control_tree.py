"""Bench of the control trees: the same moment for all leaves, after as many cycles as the tree is deep."""

import random
from collections import deque

import cocotb

from streamjoin.sim.benches.dut import CASES, Dut

CYCLES = 100


@cocotb.test
@cocotb.parametrize(case=[case for case, settings in CASES.items() if settings["kind"] == "out"])
async def fan_out_reaches_all_leaves_together(top, case):
    dut = Dut(top, case)
    await dut.reset(cycles=CASES[case]["depth"])  # what is on its way is not reset
    on_the_way = deque([0] * CASES[case]["depth"])
    for _ in range(CYCLES):
        value = random.getrandbits(8)
        dut["i"] = value
        on_the_way.append(value)
        await dut.settle()
        expected = on_the_way.popleft()
        for leaf in range(CASES[case]["leaves"]):
            assert dut[f"o__{leaf}"] == expected, f"leaf {leaf}"
        await dut.edge()


@cocotb.test
@cocotb.parametrize(case=[case for case, settings in CASES.items() if settings["kind"] == "in"])
async def fan_in_hears_every_leaf(top, case):
    dut = Dut(top, case)
    await dut.reset(cycles=CASES[case]["depth"])  # what is on its way is not reset
    leaves = CASES[case]["leaves"]
    on_the_way = deque([0] * CASES[case]["depth"])
    # Each leaf alone, none in between, then any of them.
    quiet = [value for leaf in range(leaves) for value in (1 << leaf, 0)]
    for value in [*quiet, *(random.getrandbits(leaves) & random.getrandbits(leaves) for _ in range(CYCLES))]:
        dut["i"] = value
        on_the_way.append(int(value != 0))
        await dut.settle()
        assert dut["o"] == on_the_way.popleft()
        await dut.edge()
