"""Bench of the merging tree: any number of leaves, nothing lost, each leaf's order kept."""

import cocotb

from streamjoin.sim.benches.dut import CASES, Dut
from streamjoin.sim.benches.gathering import Gathering

STREAMING = [case for case, settings in CASES.items() if settings["merger"] == "streaming"]


@cocotb.test
@cocotb.parametrize(case=list(CASES), source=["none", "random", "blocks"], sink=["none", "bursty", "blocks"])
async def loses_nothing(top, case, source, sink):
    dut = Dut(top, case)
    await dut.reset()
    leaves = CASES[case]["leaves"]
    await Gathering(dut, [20 + 3 * leaf for leaf in range(leaves)], source, sink).finish(within=20_000)


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def reaches_every_leaf_alone(top, case):
    dut = Dut(top, case)
    leaves = CASES[case]["leaves"]
    for leaf in range(leaves):
        await dut.reset()
        await Gathering(dut, [8 * (n == leaf) for n in range(leaves)], "random").finish(within=200)


@cocotb.test
@cocotb.parametrize(case=STREAMING)
async def root_of_streaming_mergers_never_rests(top, case):
    dut = Dut(top, case)
    await dut.reset()
    gathering = Gathering(dut, [24] * CASES[case]["leaves"])
    await gathering.finish(within=1_000)
    first, *_, last = gathering.out.taken
    assert last - first + 1 == len(gathering.out.items)


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def forgets_on_reset(top, case):
    dut = Dut(top, case)
    leaves = CASES[case]["leaves"]
    await dut.reset()
    Gathering(dut, [9] * leaves).out.blocked = True
    await dut.cycles(15)
    await dut.reset(cycles=1)
    await Gathering(dut, [9] * leaves, "random", "random").finish(within=2_000)
