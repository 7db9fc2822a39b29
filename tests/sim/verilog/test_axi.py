"""A design under the names of AXI4-Stream is the same design."""

import numpy as np
import pytest

from streamjoin.hdl.registry import find
from streamjoin.sim.run.model import Model, Stalls
from streamjoin.sim.run.simulate import design_verilog
from streamjoin.sim.run.verilate import build_library
from streamjoin.sim.tuples.workload import Workload
from streamjoin.sim.verilog.generate import Verilog

GIVEN = {"cores": 2, "window": 6, "key_width": 5, "payload_width": 9}
PINS = {"tdata": "payload", "tvalid": "valid", "tready": "ready"}


@pytest.fixture(scope="module")
def design():
    return find("handshake")


@pytest.fixture(scope="module")
def parameters(design):
    return design.parameters(**GIVEN)


def behind_our_names(axi, plain):
    """A module with the ports of ``plain`` around the one with AXI4-Stream ports, with bits set where no field is."""
    ours = {port["name"]: port["width"] for port in plain.manifest["ports"]}
    pins = []
    for port in axi.manifest["ports"]:
        stream, _, pin = port["name"].rpartition("_")
        own = f"{stream.replace('s_axis', 'i').replace('m_axis', 'o')}__{PINS[pin]}" if pin in PINS else port["name"]
        own = {"aclk": "clk", "aresetn": "~rst"}.get(own, own)
        spare = port["width"] - ours.get(own, 1)
        if spare and port["direction"] == "input":
            own = f"{{{{{spare}{{1'b1}}}}, {own}}}"
        pins.append(f".{port['name']}({own})")
    ports = [f"{port['direction']} [{port['width'] - 1}:0] {port['name']}" for port in plain.manifest["ports"]]
    module = f"module native({', '.join(ports)});\n  {axi.manifest['name']} axi({', '.join(pins)});\nendmodule\n"
    return Verilog(axi.text + module, {**plain.manifest, "name": "native"})


def run(verilog, parameters):
    arrivals = Workload(match_rate=0.2, key_width=5).slice(0, 400)
    fields = {"key": arrivals.key, "payload": np.arange(400)}
    stalls = {"input_stalls": Stalls(0.3, seed=1), "output_stalls": Stalls(0.4, seed=2)}
    with Model(build_library(verilog), verilog.manifest) as model:
        model.run(fields, arrivals.stream, patience=parameters.patience, max_cycles=90)  # a reset in mid-run
        return model.run(fields, arrivals.stream, patience=parameters.patience, **stalls)


WIDE = {"width": 3, "results": 2, "window": 6, "key_width": 5, "payload_width": 9}


@pytest.mark.parametrize(("name", "given"), [("handshake", GIVEN), ("tests.sim.wide_design:DESIGN", WIDE)])
def test_same_results_in_the_same_cycles(name, given):
    design = find(name)
    parameters = design.parameters(**given)
    verilog = design_verilog(design, parameters)
    plain = run(verilog, parameters)
    axi = run(behind_our_names(design_verilog(design, parameters, axi=True), verilog), parameters)
    assert len(plain.result_cycle) > 100
    assert (axi.accepted_cycle == plain.accepted_cycle).all()
    assert (axi.result_cycle == plain.result_cycle).all()
    assert all((axi.result[name] == plain.result[name]).all() for name in plain.result)


def test_ports_and_their_layout(design, parameters):
    verilog = design_verilog(design, parameters, axi=True)
    ports = {port["name"]: port for port in verilog.manifest["ports"]}
    assert list(ports)[:5] == ["aclk", "aresetn", "s_axis_r_tdata", "s_axis_r_tvalid", "s_axis_r_tready"]
    assert "clk" not in ports
    assert "drained" in ports
    # 5 + 9 bits in two bytes, 5 + 9 + 9 in three.
    assert ports["s_axis_s_tdata"]["width"] == 16
    assert ports["s_axis_s_tdata"]["fields"] == [
        {"name": "key", "offset": 0, "width": 5},
        {"name": "payload", "offset": 5, "width": 9},
    ]
    assert ports["m_axis_result_tdata"]["width"] == 24
    assert ports["m_axis_result_tready"]["direction"] == "input"
    assert verilog.manifest["inputs"] == [{"port": "s_axis_r", "stream": "R"}, {"port": "s_axis_s", "stream": "S"}]
    assert verilog.manifest["result"] == "m_axis_result"
    header = verilog.text.partition("module handshake(")[2].partition(");")[0]
    assert header.split(", ") == list(ports)
