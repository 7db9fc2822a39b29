"""All cocotb benches, on every simulator there is; and the runner itself."""

import shutil

import pytest

from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.registry import find
from streamjoin.sim.run.bench_suite import COMPONENT_BENCHES, run_component_bench, run_design_benches
from streamjoin.sim.run.cocotb_runner import run_bench
from streamjoin.sim.verilog.bundle import Bundle
from streamjoin.support.toolchain import ToolError
from tests.sim.small_designs import DESIGNS, SMALL
from tests.waves import at_edges

SIMULATORS = ["verilator", *(["icarus"] if shutil.which("iverilog") else [])]
#: What the second simulator is spared: many cycles, no new kind of port.
ONLY_VERILATOR = {"core", "merging_tree", "punctuations", "input_gate", "sequential", "nested-loop", "async-drop"}
ONLY_VERILATOR |= {"bisort", "hash", "hash-multiway", "five-streams", "punctuation", "ordered-drop", "circular-drop"}
ONLY_VERILATOR |= {"stashed", "hash-join", "wide", "hash-wide", "hash-wide-drop"}
#: What the bench of whole designs can read, pairs; and wider tuples than the bulk driver takes.
BENCHED = {name: (design, given) for name, (design, given) in DESIGNS.items() if given.get("output") != "records"}
BENCHED["slots"] = ("tests.sim.wide_design:DESIGN", {"window_r": 5, "window_s": 3, "width": 3, "results": 2})
BENCHED["slots-drop"] = ("tests.sim.wide_design:DESIGN", {"window": 4, "span": 20, "on_full": "drop", "width": 4})
BENCHED["wide"] = ("nested-loop", {"window": 4, "span": 9, "key_width": 64, "time_width": 70, "payload_width": 130})


def on_simulators(names):
    return [(name, sim) for name in names for sim in SIMULATORS if sim == "verilator" or name not in ONLY_VERILATOR]


@pytest.mark.parametrize(("bench", "simulator"), on_simulators(COMPONENT_BENCHES))
def test_component(bench, simulator):
    report = run_component_bench(bench, simulator=simulator)
    assert report.failures == (), f"see {report.log}"
    assert report.passed >= len(list(COMPONENT_BENCHES[bench]())), "a test for each case at least"


@pytest.mark.parametrize(("name", "simulator"), on_simulators(BENCHED))
def test_design(name, simulator):
    design, given = BENCHED[name]
    parameters = find(design).parameters(**SMALL | given)
    report = run_design_benches(find(design), parameters, simulator)
    assert report.failures == (), f"see {report.log}"
    assert report.passed >= 10


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_failures_are_named(simulator):
    queue = Bundle({"shallow": FIFO(16, 3)})
    settings = {"cases": {"shallow": {"depth": 4, "margin": 0, "trusting": False}}}
    report = run_bench(queue, "shallow_queue", "fifo", settings, simulator=simulator, seed=1)
    assert "keeps_order/case=shallow/source=none/sink=blocks" in report.failures
    assert "passes_at_full_speed/case=shallow" not in report.failures
    assert report.passed > 0
    assert "ready is wrong with room for 1" in report.log.read_text()


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_waves_show_the_design(simulator, tmp_path, capfd):
    waves = tmp_path / "tree.vcd"
    report = run_component_bench("control_tree", simulator=simulator, waves=waves)
    assert report.failures == ()
    assert {"in17by4__i", "level1_0"} <= set(waves.read_text().split())
    edges = at_edges(waves, "control_tree_bench")
    for leaf in range(17):
        assert {edge["in17by4__i"] >> leaf & 1 for edge in edges} == {0, 1}, f"leaf {leaf} never moves"
    # A tree of three levels: what comes out is what went in three cycles before.
    given = [int(edge["in17by4__i"] != 0) for edge in edges]
    assert [edge["in17by4__o"] for edge in edges][3:] == given[:-3]
    assert [path.name for path in tmp_path.iterdir()] == ["tree.vcd"]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("simulator", "missing"), [("verilator", "g\\+\\+"), ("icarus", "iverilog")])
def test_a_missing_tool_is_named(simulator, missing, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(ToolError, match=f"^{missing} was not found: install it"):
        run_component_bench("fifo", simulator=simulator)


def test_a_bench_without_result_is_an_error():
    with pytest.raises(ToolError, match=r"ended without telling how the tests went: see .*log$"):
        run_bench(Bundle({"q": FIFO(16, 3)}), "no_bench", "missing", {}, seed=1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"simulator": "modelsim"}, "the simulator is one of verilator, icarus, not 'modelsim'"),
        ({"waves": "x.txt"}, "waves go to a .vcd or a .fst file, not to x.txt"),
    ],
)
def test_wrong_options_are_refused(options, message, tmp_path):
    options = {name: tmp_path / value if name == "waves" else value for name, value in options.items()}
    with pytest.raises(ValueError, match=message):
        run_component_bench("fifo", **options)
