"""Bench of a whole self-test: it comes to its verdict by itself, and again after a reset."""

import cocotb

from streamjoin.sim.benches.dut import SETTINGS, Dut


async def _verdict(dut: Dut) -> None:
    await dut.until(lambda: dut["done"], within=SETTINGS["cycles"])
    await dut.cycles(3)
    assert (dut["running"], dut["passed"], dut["failed"]) == (0, SETTINGS["passed"], 1 - SETTINGS["passed"])


@cocotb.test
async def comes_to_a_verdict(top):
    dut = Dut(top)
    await dut.reset()
    await dut.cycles(1)
    assert (dut["running"], dut["done"], dut["passed"], dut["failed"]) == (1, 0, 0, 0)
    await _verdict(dut)


@cocotb.test
async def begins_anew_with_a_reset(top):
    dut = Dut(top)
    await dut.reset()
    await dut.cycles(SETTINGS["cycles"] // 4)
    await dut.reset()
    await _verdict(dut)
