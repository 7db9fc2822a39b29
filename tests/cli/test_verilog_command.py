"""The command ``verilog``: AXI4-Stream names, and what linters say."""

import json

import pytest

from streamjoin.cli.main import main
from streamjoin.sim.verilog.generate import Verilog
from streamjoin.sim.verilog.lint import lint

SMALL = ("handshake", "-p", "cores=2", "-p", "window=4")


def test_axi_names_without_findings(tmp_path, capsys):
    path = tmp_path / "join.v"
    assert main(["verilog", *SMALL, "--axi", "--lint", "-o", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "verilator: no findings\nyosys: no findings\n" in out
    assert err == ""
    assert "module handshake(aclk, aresetn, s_axis_r_tdata, " in path.read_text()
    assert json.loads(path.with_suffix(".json").read_text())["result"] == "m_axis_result"


def test_findings_are_shown_and_are_status_1(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("streamjoin.cli.verilog.lint", lambda *asked: lint(*asked) | {"yosys": ["Warning: a loop"]})
    assert main(["verilog", *SMALL, "--lint", "-o", str(tmp_path / "join.v")]) == 1
    assert "yosys: 1 findings\n  Warning: a loop\n" in capsys.readouterr().out


def test_findings_name_the_users_file(tmp_path, capsys, monkeypatch):
    """Not the temporary one that the tools were given."""
    latch = Verilog(
        "module latch(a, q);\n  input a;\n  output reg q;\n  always @* if (a) q = a;\nendmodule\n", {"name": "latch"}
    )
    monkeypatch.setattr("streamjoin.configured.design_verilog", lambda *_, **__: latch)
    path = tmp_path / "mine.v"
    assert main(["verilog", *SMALL, "--lint", "-o", str(path)]) == 1
    assert f"  {path}:4: LATCH: " in capsys.readouterr().out


def test_to_standard_output(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["verilog", *SMALL, "--name", "mine", "--lint", "-o", "-"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("// mine\n")
    assert out.endswith("endmodule\n/* verilator lint_restore */\n")
    assert "verilator: no findings\n" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("2nd", "'2nd' cannot name a Verilog module: use letters, digits and underscores"),
        ("größe", "'größe' cannot name a Verilog module: use letters, digits and underscores"),
        ("logic", "'logic' is a word of Verilog and cannot name a module: choose another name"),
    ],
)
def test_names_that_no_module_can_have(name, sentence, tmp_path, capsys):
    assert main(["verilog", *SMALL, "--name", name, "-o", str(tmp_path / "x.v")]) == 2
    assert capsys.readouterr().err == f"streamjoin: {sentence}\n"
    assert list(tmp_path.iterdir()) == []
