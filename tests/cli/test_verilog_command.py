"""The command ``verilog``: AXI4-Stream names, and what linters say."""

import json

from streamjoin.cli.main import main
from streamjoin.sim.lint import lint

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
    monkeypatch.setattr("streamjoin.cli.verilog.lint", lambda verilog: lint(verilog) | {"yosys": ["Warning: a loop"]})
    assert main(["verilog", *SMALL, "--lint", "-o", str(tmp_path / "join.v")]) == 1
    assert "yosys: 1 findings\n  Warning: a loop\n" in capsys.readouterr().out
