"""How fast cocotb is when it drives every cycle: the bulk driver's yardstick, not a test of the design."""

import json
import time
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from streamjoin.sim.benches.dut import SETTINGS


@cocotb.test
async def two_tuples_in_every_cycle(dut):
    """Offers a new R and a new S tuple in each cycle and looks for results, with as few triggers as can be."""
    clock, ready, valid, result = dut.clk, dut.i_r__ready, dut.o_result__valid, dut.o_result__payload
    r, s = dut.i_r__payload, dut.i_s__payload
    Clock(clock, 10, unit="ns").start()
    dut.drain.value = 0
    dut.rst.value = 1
    for _ in range(4):
        await RisingEdge(clock)
    dut.rst.value = 0
    for port in (dut.i_r__valid, dut.i_s__valid, dut.o_result__ready):
        port.value = 1
    while ready.value != 1:  # the reset takes its time to reach all cores
        await RisingEdge(clock)
    cycles, taken, results = SETTINGS["cycles"], 0, 0
    started = time.perf_counter()
    for cycle in range(cycles):
        r.value = 2 * cycle  # even and odd: no matches
        s.value = 2 * cycle + 1
        await RisingEdge(clock)
        taken += ready.value == 1
        if valid.value == 1:
            results += result.value.to_unsigned() > 0
    seconds = time.perf_counter() - started
    assert taken == cycles
    Path(SETTINGS["report"]).write_text(json.dumps({"cycles": cycles, "seconds": seconds, "results": results}))
