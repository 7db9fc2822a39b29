"""A design's parts are listed by kind, and a path through its netlist is told in them."""

import pytest

from streamjoin.hdl.registry import find
from streamjoin.sim.verilog.generate import generate
from streamjoin.synth.flow.critical_path import from_report, from_timing_analysis
from streamjoin.synth.flow.errors import SynthError
from streamjoin.synth.flow.harness import Harness
from streamjoin.synth.flow.hierarchy import Hierarchy
from streamjoin.synth.flow.netlist import TOP
from streamjoin.synth.flow.parts import kinds


def handshake(**values):
    design = find("handshake")
    return design.component(design.parameters(**{"cores": 4, "window": 8, "key_width": 4} | values))


@pytest.fixture(scope="module")
def parts():
    return {kind.first: kind for kind in kinds(handshake())}


@pytest.fixture(scope="module")
def hierarchy():
    return Hierarchy(generate(Harness(handshake()), TOP).text, "HandshakeJoin")


def test_kinds_are_counted_once_each(parts):
    assert next(iter(parts.values())).name == "HandshakeJoin"
    assert (parts["core0"].name, parts["core0"].count) == ("ParallelCore", 4)
    assert (parts["tree.merger0"].name, parts["tree.merger0"].count) == ("Merger", 3)
    assert (parts["core0.results"].name, parts["core0.results"].count) == ("FIFO", 4)
    assert "core1" not in parts


def test_unequal_segments_are_two_kinds_of_core():
    cores = [kind for kind in kinds(handshake(window=10)) if kind.name == "ParallelCore"]
    assert [(kind.first, kind.count) for kind in cores] == [("core0", 2), ("core2", 2)]


def test_a_kind_can_be_made_again(parts):
    queue = parts["core0.results"].make()
    assert queue.kind == parts["core0.results"].make().kind
    assert "module queue(" in generate(queue, "queue").text


def test_cells_belong_to_parts(hierarchy):
    assert hierarchy.part_of("dut.core1.results.full_SB_DFF_Q_2") == ("core1.results", "FIFO")
    assert hierarchy.part_of("dut.tree.merger0.turn_LUT4_Z") == ("tree.merger0", "Merger")
    assert hierarchy.part_of("dut.core0.r.key_TRELLIS_FF_Q") == ("core0", "ParallelCore")
    assert hierarchy.part_of("dut.drained_TRELLIS_FF_Q") == ("", "HandshakeJoin")
    assert hierarchy.part_of("shift_TRELLIS_FF_Q_7") == ("", "harness")


def hop(kind, cell, delay):
    return {"type": kind, "delay": delay, "from": {"cell": cell}, "to": {"cell": cell}}


def test_a_path_in_parts(hierarchy):
    path = [
        hop("clk-to-q", "dut.core0.results.level_FF_Q", 0.5),
        hop("routing", "dut.core0.a_LUT4_Z", 1.0),
        hop("logic", "dut.core0.a_LUT4_Z", 0.25),
        hop("routing", "dut.core0.b_CCU2C_S0", 0.75),
        hop("logic", "dut.core0.b_CCU2C_S0", 0.25),
        hop("routing", "dut.core0.b_CCU2C_S1", 0.0),
        hop("logic", "dut.core0.b_CCU2C_S1", 0.25),
        hop("setup", "dut.core0.c_FF_Q", 0.0),
    ]
    other = {"from": "<async>", "to": "posedge clk", "path": [hop("routing", "rst", 9.0)]}
    report = {"critical_paths": [other, {"from": "posedge clk", "to": "posedge clk", "path": path}]}
    found = from_report(report, hierarchy)
    assert [(step.part, step.levels) for step in found.steps] == [("core0.results", 0), ("core0", 2)]
    assert str(found) == "core0.results (FIFO) -> core0 (ParallelCore): 3.0 ns, 2 levels of logic, 58% routing"


ANALYSIS = r"""
8. Executing STA pass (static timing analysis).
Latest arrival time in 'harness' is 1933:
    1933 dut.core1.results.memory.0.4 (RAM32M.DIB)
           \dut.core1.at_s [4]
    1700 dut.core1.x_LUT6_O (LUT6.I3->O)
           \dut.core1.x
    1472 dut.core1.at_s_FDRE_Q_4 (FDRE.C->Q)
       0   \clk (<primary input>)

Arrival histogram:
"""


def test_a_path_of_logic_delays(hierarchy):
    found = from_timing_analysis(ANALYSIS, hierarchy)
    assert [(step.part, step.levels, step.logic_ns) for step in found.steps] == [
        ("core1", 1, 1.7),
        ("core1.results", 0, 0.233),
    ]
    assert found.routing_share == 0


def test_without_registers_there_is_no_path(hierarchy):
    with pytest.raises(SynthError, match="found no path"):
        from_timing_analysis("Latest arrival time in nothing", hierarchy)
