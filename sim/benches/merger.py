"""Bench of both mergers: nothing lost, order kept, and each one's speed and fairness."""

from itertools import pairwise

import cocotb

from streamjoin.sim.benches.dut import CASES, Dut
from streamjoin.sim.benches.gathering import Gathering
from streamjoin.sim.benches.streams import STALLS

STREAMING = [case for case, settings in CASES.items() if settings["merger"] == "streaming"]
THREE_STATE = [case for case, settings in CASES.items() if settings["merger"] == "three-state"]


@cocotb.test
@cocotb.parametrize(case=list(CASES), source=list(STALLS), sink=["none", "random", "blocks"])
async def loses_nothing(top, case, source, sink):
    dut = Dut(top, case)
    await dut.reset()
    await Gathering(dut, [60, 45], source, sink).finish(within=20_000)


@cocotb.test
@cocotb.parametrize(case=STREAMING)
async def streaming_passes_one_a_cycle_in_turns(top, case):
    dut = Dut(top, case)
    await dut.reset()
    gathering = Gathering(dut, [40, 40])
    await gathering.finish(within=100)
    assert gathering.out.taken == list(range(2, 82))
    assert gathering.origins == [0, 1] * 40


@cocotb.test
@cocotb.parametrize(case=STREAMING, leaf=[0, 1])
async def streaming_passes_one_a_cycle_from_a_lone_input(top, case, leaf):
    dut = Dut(top, case)
    await dut.reset()
    gathering = Gathering(dut, [0, 40] if leaf else [40, 0])
    await gathering.finish(within=60)
    # After a reset it is the first input's turn; the second waits a cycle for its own.
    assert gathering.out.taken == list(range(2 + leaf, 42 + leaf))


@cocotb.test
@cocotb.parametrize(case=STREAMING, sink=["random", "bursty"])
async def streaming_is_fair_under_stalls(top, case, sink):
    dut = Dut(top, case)
    await dut.reset()
    gathering = Gathering(dut, [40, 40], "none", sink)
    await gathering.finish(within=1_000)
    assert gathering.origins == [0, 1] * 40


@cocotb.test
@cocotb.parametrize(case=[case for case in THREE_STATE if CASES[case]["depth"] > 2])
async def three_state_passes_two_in_three_cycles(top, case):
    """With room for two alone it has to wait until both have moved on."""
    dut = Dut(top, case)
    await dut.reset()
    gathering = Gathering(dut, [40, 40])
    await gathering.finish(within=200)
    taken = gathering.out.taken
    assert gathering.origins == [0, 1] * 40
    assert [late - early for early, late in pairwise(taken)] == ([1, 2] * 40)[:-1]


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def forgets_on_reset(top, case):
    dut = Dut(top, case)
    await dut.reset()
    gathering = Gathering(dut, [9, 9])
    gathering.out.blocked = True
    await dut.cycles(10)
    await dut.reset(cycles=1)
    await Gathering(dut, [20, 20], "random", "random").finish(within=500)
