"""Modules with many memories, used several times, are simulated by code that their instances share."""

from streamjoin.hdl.registry import find
from streamjoin.sim.run.code_sharing import sharing
from streamjoin.sim.run.simulate import Simulator, design_verilog
from streamjoin.sim.tuples.workload import Workload


def circular(**given):
    return find("circular").parameters(**given)


def test_inputs_of_wide_banks_alone_are_kept_apart():
    lines = sharing(design_verilog(find("circular"), circular(lanes=32)).text).splitlines()
    assert lines[0] == "`verilator_config"
    assert {line.split('"')[1] for line in lines[1:]} == {"circular_lane_bank"}
    assert {line.split('"')[3] for line in lines[1:]} == {"rst", "store", "place", "item", "show", "row"}


def test_narrow_ones_are_left_alone():
    assert sharing(design_verilog(find("circular"), circular(lanes=8)).text) == ""


def test_shared_code_simulates_the_same():
    simulator = Simulator.build(find("circular"), circular(lanes=32, window=70))
    assert simulator.run(Workload(streams=3, match_rate=0.01).slice(0, 600)).exact
