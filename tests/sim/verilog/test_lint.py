"""Other tools take our Verilog without a warning that matters, and would tell if there were one."""

import re
import shutil

import pytest

from streamjoin.hdl.board.self_test import SelfTest
from streamjoin.hdl.registry import DESIGNS
from streamjoin.sim.run.simulate import design_verilog
from streamjoin.sim.verilog.generate import Verilog, generate
from streamjoin.sim.verilog.lint import lint
from streamjoin.sim.verilog.waivers import END, WAIVED, pragmas, without_pragmas
from streamjoin.support.toolchain import ToolError, run_tool, verilate
from tests.random_lint import findings_of

TOOLS = {"verilator", "yosys", *(["icarus"] if shutil.which("iverilog") else [])}
#: Parameter sets of each design that are drawn at random; more of them: see docs/results/lint.md.
ROUNDS = 3
CLEAN = {tool: [] for tool in TOOLS}
#: For designs of two streams, and of more.
SMALL = {"window_r": 7, "window_s": 10}
SMALL_MULTIWAY = {"window_s1": 7, "window_s2": 10, "window_s3": 4, "flight": 5}
VARIANTS = {
    "nested-loop": [{"storage": storage} for storage in ("registers", "memory")],
    "handshake": [
        {"cores": 3, "scan": scan, "storage": storage}
        for scan, storage in (("parallel", "registers"), ("sequential", "registers"), ("sequential", "memory"))
    ],
    "handshake-async": [{"cores": 3}, {"cores": 3, "lanes": 2, "comparators": "apart"}],
    "llhj": [{"cores": 3}, {"cores": 3, "lanes": 2, "comparators": "apart"}],
    "bisort": [{"batch": 1, "subwindow": 2, "partitions": 1}, {"batch": 5, "mergers": 4, "bandwidth": 9}],
    "circular": [{}, {"streams": 4, "lanes": 3}],
    "stashed": [{"stash": 0}, {"stash": 9, "lanes": 3}],
    "hash": [{}, {"buckets": 1, "probe_queue": 1, "result_queue": 1, "predicate": "band:1"}],
}
#: Each has operators, ports or registers that no other has.
EXTRAS = [{}, {"span": 9, "on_full": "drop"}, {"predicate": "band2:1,2"}]


@pytest.mark.parametrize("extra", EXTRAS, ids=str)
@pytest.mark.parametrize(("name", "given"), [(name, given) for name in VARIANTS for given in VARIANTS[name]], ids=str)
def test_designs(name, given, extra):
    design = DESIGNS[name]
    small = SMALL if set(SMALL) <= set(design.parameters_type.names()) else SMALL_MULTIWAY
    assert lint(design_verilog(design, design.parameters(**small | given | extra))) == CLEAN


def test_every_design_is_among_the_variants():
    assert set(VARIANTS) == set(DESIGNS)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("llhj", {"cores": 2, "window": 16}),
        ("llhj", {"cores": 2, "window": 16, "punctuation": 3}),
        ("llhj", {"cores": 2, "window": 16, "ordered": "true"}),
        ("llhj", {"lanes": 9, "window": 4, "cores": 2}),
        ("circular", {"window": 1, "flight": 1}),
        ("stashed", {"lanes": 9, "window": 4}),
        ("stashed", {"stash": 1, "window": 4}),
    ],
)
def test_constant_comparisons_blocks_without_inputs_and_signals_of_no_bits(name, given):
    """Each had findings once."""
    design = DESIGNS[name]
    assert lint(design_verilog(design, design.parameters(**given))) == CLEAN


@pytest.mark.parametrize("number", range(len(DESIGNS) * ROUNDS))
def test_random_parameters(number):
    assert findings_of(number)[1] == CLEAN


@pytest.mark.parametrize("name", DESIGNS)
def test_a_plain_run_of_verilator_is_content(name, tmp_path):
    """With the file as it is and no flags: what is waived, the file says itself. Without that, it is not content."""
    design = DESIGNS[name]
    path, bare = tmp_path / "design.v", tmp_path / "bare.v"
    verilog = design_verilog(design, design.parameters(window=8))
    path.write_text(verilog.text)
    bare.write_text(without_pragmas(verilog.text))
    top = verilog.manifest["name"]
    assert "%Warning" not in verilate(["--lint-only", "--top-module", top, path])
    with pytest.raises(ToolError, match=r"%Error: Exiting due to \d+ warning"):
        verilate(["--lint-only", "--top-module", top, bare])
    if old := shutil.which("verilator", path="/usr/bin:/usr/local/bin"):
        run_tool([old, "--lint-only", "--top-module", top, path])


def test_pragmas_are_for_waived_kinds_only():
    kinds = set(re.findall(r"lint_off (\w+)", pragmas()))
    assert kinds == {"DECLFILENAME", "UNUSED", "CASEINCOMPLETE", "INITIALDLY", "UNOPTFLAT", "WIDTH"}
    assert without_pragmas(f"a\n{pragmas()}b\n{END}").splitlines().index("b") == 1 + pragmas().count("\n")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "preset"), [(d.name, preset) for d in DESIGNS.values() for preset in d.presets])
def test_presets_in_small(name, preset):
    design = DESIGNS[name]
    given = {**design.presets[preset], "window": 8}
    given |= {name: 4 for name in ("cores", "lanes") if name in given}
    assert lint(design_verilog(design, design.parameters(**given), axi=True)) == CLEAN


def test_a_self_test():
    design = DESIGNS["handshake"]
    parameters = design.parameters(cores=2, window=8)
    assert lint(generate(SelfTest(design.component(parameters), parameters), "self_test")) == CLEAN


@pytest.mark.parametrize(
    ("tool", "complaint", "body"),
    [
        ("verilator", "LATCH", "reg q; always @* if (a) q = b; assign y = q;"),
        ("verilator", "PINMISSING", "inner one(.a(a)); assign y = b;"),
        ("verilator", "WIDTHTRUNC", "wire [3:0] wide = {4{a}}; assign y = wide;"),
        ("yosys", "multiple conflicting drivers", "assign y = a; assign y = b;"),
        ("yosys", "logic loop", "wire p = y & a; assign y = ~p;"),
    ],
)
def test_a_fault_is_found(tool, complaint, body):
    inner = "module inner(a, z); input a; output z; assign z = a; endmodule"
    text = f"{inner}\nmodule bad(a, b, y);\n  input a, b;\n  output y;\n  {body}\nendmodule\n"
    findings = lint(Verilog(text, {"name": "bad"}))
    assert any(complaint in finding for finding in findings[tool]), findings


def test_every_waiver_has_its_reason():
    assert all(kind.isupper() and len(reason) > 20 for kind, _, reason in WAIVED)
