"""The same Verilog in other people's simulators: four states, events, and the rules of either language."""

import json

import numpy as np
import pytest
from cocotb_tools.check_results import get_results
from cocotb_tools.runner import get_runner

from streamjoin.cli.main import main
from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.benches import ENVIRONMENT
from streamjoin.sim.run.model import Stalls
from streamjoin.sim.run.simulate import Simulator, design_verilog
from streamjoin.sim.verilog.generate import generate
from tests.sim import four_state
from tests.sim.small_designs import DESIGNS, SMALL
from tests.sim.wide_design import DESIGN as WIDE_DESIGN
from tests.sim.wide_design import WideJoin

pytestmark = pytest.mark.skipif(not four_state.AVAILABLE, reason="no iverilog here: apt-get install iverilog")


WIDE = "tests.sim.wide_design:DESIGN"
CASES = DESIGNS | {
    "wide": (WIDE, {"window_r": 6, "window_s": 4, "width": 3, "results": 2}),
    "wide-in-drop": (
        WIDE,
        {"window": 4, "span": 20, "on_full": "drop", "predicate": "band:1", "width": 4, "results": 1, "queue": 1},
    ),
    "wide-out": (WIDE, {"window": 3, "width": 1, "results": 4}),
}


@pytest.mark.parametrize("rules", ["2005", "2012"])
@pytest.mark.parametrize("name", CASES)
def test_exact_by_the_rules_of_either_language(name, rules, tmp_path):
    design, given = CASES[name]
    parameters = find(design).parameters(**SMALL | given)
    verilog = design_verilog(find(design), parameters)
    simulator = Simulator(
        find(design), parameters, verilog, four_state.compile_design(verilog, tmp_path, rules), build_seconds=0.0
    )
    rng = np.random.default_rng(len(name))
    arrivals = Arrivals(
        stream=rng.integers(len(parameters.streams), size=80),
        key=rng.integers(2, size=80) * 255,
        key2=rng.integers(3, size=80),
        time=np.cumsum(rng.integers(3, size=80)),
    )
    stalls = {"input_stalls": Stalls(0.3, seed=1), "output_stalls": Stalls(0.4, seed=2)}
    simulation = four_state.run(simulator, arrivals, reset_at=60, reset_cycles=1, **stalls)
    assert simulation.difference.design_is_right, simulation.difference.describe()
    assert len(simulation.numbers) or simulation.run.discarded.any()


def test_a_slot_beyond_the_count_is_unknown(tmp_path):
    parameters = WIDE_DESIGN.parameters(**SMALL, window=3, width=2, results=1)
    verilog = generate(WideJoin(parameters, "beyond"), "beyond")
    simulator = Simulator(WIDE_DESIGN, parameters, verilog, four_state.compile_design(verilog, tmp_path), 0.0)
    with pytest.raises(four_state.UnknownError, match="is unknown"):
        four_state.run(simulator, Arrivals(stream=[0, 1, 1] * 13, key=[1] * 39))


@pytest.mark.parametrize(
    ("design", "further"),
    [("llhj", {"punctuation": 3, "cores": 1}), ("circular", {"streams": 3}), ("bisort", {"collect": 30}), ("hash", {})],
)
def test_the_untouched_file_in_the_stock_runner_of_cocotb(design, further, tmp_path, monkeypatch):
    """Which reads it as SystemVerilog. The bench is ours; file and flags are as a user would have them."""
    monkeypatch.chdir(tmp_path)
    given = SMALL | {"window": 2} | further
    parameters = [word for name, value in given.items() for word in ("-p", f"{name}={value}")]
    assert main(["verilog", design, *parameters, "--name", "joined", "-o", "joined.v"]) == 0
    manifest = json.loads((tmp_path / "joined.json").read_text())
    runner = get_runner("icarus")
    runner.build(sources=[tmp_path / "joined.v"], hdl_toplevel="joined", timescale=("1ns", "1ns"))
    settings = {"design": design, "parameters": find(design).parameters(**given).as_dict()}
    results = runner.test(
        test_module="streamjoin.sim.benches.join",
        hdl_toplevel="joined",
        test_dir=tmp_path,
        test_filter="both_ends|resets|lone_result|source=random",
        seed=1,
        extra_env={ENVIRONMENT: json.dumps({"manifest": manifest, "settings": settings})},
    )
    tests, failures = get_results(results)
    assert tests > 3
    assert failures == 0
