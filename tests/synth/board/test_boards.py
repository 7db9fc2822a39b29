"""Boards are found by name, and get whole projects of a design that tests itself."""

import json
import os
import re
import shutil
import subprocess

import pytest

from streamjoin.hdl.board.self_test import SelfTest
from streamjoin.hdl.registry import find
from streamjoin.sim.verilog.generate import generate
from streamjoin.support.files import InputError
from streamjoin.support.toolchain import ToolError
from streamjoin.synth.board.boards import BoardError, boards, find_board
from streamjoin.synth.board.project import RECORD, write_project
from streamjoin.synth.board.tools import find_tool
from streamjoin.synth.flow.yosys_program import main as yosys
from tests.synth.board.gate_level import verdict_of_ulx3s


@pytest.fixture(scope="module")
def self_test():
    design = find("nested-loop")
    parameters = design.parameters(window=2, key_width=4, payload_width=4)
    return generate(SelfTest(design.component(parameters), parameters, tuples=100), "streamjoin_self_test")


def test_names_are_found_however_they_are_written():
    assert find_board("ULX3S_85F") is find_board("ulx3s-85f") is boards()["ulx3s-85f"]
    assert find_board("arty-a7-35").device == "xc7a35ti"
    assert len(boards()) > 70


def test_toolchains_are_those_of_the_vendor():
    assert find_board("artya7-35").toolchains == ("Vivado", "ISE", "Symbiflow", "Xray")
    assert find_board("de10nano").toolchains == ("Quartus", "Mistral")
    assert find_board("de0nano").toolchains == ("Quartus",), "Mistral knows Cyclone V only"
    assert find_board("ulx3s-85f").toolchains == ("Trellis", "Diamond")
    assert find_board("ulx3s-85f").platform("TRELLIS").toolchain == "Trellis"


def test_what_a_board_offers():
    ulx3s, ecpix5, fomu = find_board("ulx3s-85f"), find_board("ecpix585"), find_board("colorlight-5a75b-r70")
    assert (ulx3s.clock_mhz, ulx3s.lights) == (25, "three")
    assert (ecpix5.clock_mhz, ecpix5.lights) == (100, "colour")
    assert fomu.lights == "one"


@pytest.mark.parametrize(
    ("sentence", "name"),
    [
        ("there is no board 'ulx3s'; there are ulx3s-12f, ulx3s-25f, ulx3s-45f, ulx3s-85f", "ulx3s"),
        ("there is no board 'abacus'; 'streamjoin board --list' names all", "abacus"),
    ],
)
def test_unknown_board(sentence, name):
    with pytest.raises(BoardError, match=sentence):
        find_board(name)


def test_unknown_toolchain():
    with pytest.raises(BoardError, match="ulx3s-85f cannot be built with 'Vivado': take Trellis or Diamond"):
        find_board("ulx3s-85f").platform("Vivado")


def test_a_device_that_a_toolchain_does_not_know(self_test, tmp_path, capfd):
    with pytest.raises(BoardError, match=r"kc705 cannot be built with Symbiflow \(Unknown symbiflow device .*: take"):
        write_project(find_board("kc705"), self_test, tmp_path / "project", toolchain="symbiflow", build=False)
    assert capfd.readouterr() == ("", "")
    assert list(tmp_path.iterdir()) == []


def test_boards_without_a_clock_or_a_light(self_test, tmp_path):
    with pytest.raises(BoardError, match="microzedz010 brings no clock"):
        write_project(find_board("microzedz010"), self_test, tmp_path / "project")
    with pytest.raises(BoardError, match="butterstick has no light"):
        write_project(find_board("butterstick"), self_test, tmp_path / "project")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "toolchain", "project", "mentions"),
    [
        ("artya7-35", "Vivado", "streamjoin.tcl", ("xc7a35ticsg324-1L", 'add_files "streamjoin_self_test.v"')),
        ("artya7-35", "Symbiflow", "streamjoin.pcf", ("led_0__io",)),
        ("artya7-35", "Xray", "streamjoin.xdc", ("led_0__io",)),
        ("de10nano", "Quartus", "streamjoin.qsf", ("5CSEBA6U23I7", 'VERILOG_FILE "streamjoin_self_test.v"')),
        ("de10nano", "Mistral", "streamjoin.ys", ("read_verilog  streamjoin_self_test.v",)),
        ("colorlight-5a75b-r70", "Trellis", "streamjoin.lpf", ('LOCATE COMP "led_0__io"',)),
        ("ecpix585", "Trellis", "streamjoin.lpf", ('LOCATE COMP "rgb_led_0__g__io"',)),
    ],
)
def test_projects_are_complete_without_the_tools(self_test, tmp_path, name, toolchain, project, mentions):
    folder = tmp_path / "project"
    written = write_project(find_board(name), self_test, folder, toolchain=toolchain, build=False)
    assert (written.toolchain, written.build_seconds, written.bitstreams) == (toolchain, None, ())
    assert sorted(path.name for path in folder.iterdir()) == list(written.files)
    assert {"build_streamjoin.sh", project, RECORD, "streamjoin_self_test.v"} <= set(written.files)
    assert (folder / "streamjoin_self_test.v").read_text() == self_test.text
    assert all(mention in (folder / project).read_text() for mention in mentions)
    record = json.loads((folder / RECORD).read_text())
    assert (record["board"], record["toolchain"]) == (name, toolchain)
    assert not any(str(tmp_path) in path.read_text() for path in folder.iterdir()), "projects can be moved"
    if (top := folder / "streamjoin.v").exists():
        assert "streamjoin_self_test self_test (" in top.read_text()


def test_a_bitstream_for_ecp5(self_test, tmp_path):
    project = write_project(find_board("ulx3s-12f"), self_test, tmp_path / "project", build=True)
    assert project.bitstreams == ("streamjoin.bit",)
    assert (tmp_path / "project" / "streamjoin.bit").stat().st_size > 10_000
    assert project.fmax_mhz > 25
    assert json.loads((tmp_path / "project" / RECORD).read_text())["fmax_mhz"] == project.fmax_mhz
    if shutil.which("iverilog"):
        assert verdict_of_ulx3s(tmp_path / "project", tmp_path) == "passed 1 failed 0"


def test_a_project_replaces_only_a_project(self_test, tmp_path):
    board, folder = find_board("de10nano"), tmp_path / "project"
    folder.mkdir()
    write_project(board, self_test, folder, build=False)
    (folder / "stale").touch()
    write_project(board, self_test, folder, build=False)
    assert not (folder / "stale").exists()
    (folder / RECORD).unlink()
    with pytest.raises(InputError, match="is no board project: name a new folder"):
        write_project(board, self_test, folder, build=False)
    assert [path.name for path in tmp_path.iterdir()] == ["project"]


def test_building_without_the_tools(self_test, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(ToolError, match="quartus_map was not found: install it, or write the project alone"):
        write_project(find_board("de10nano"), self_test, tmp_path / "project", build=True)
    assert list(tmp_path.iterdir()) == []


def test_a_build_that_fails_leaves_nothing(self_test, tmp_path, monkeypatch):
    broken = tmp_path / "vivado"
    broken.write_text("#!/bin/sh\necho working\necho 'ERROR: no licence'\nexit 1\n")
    broken.chmod(0o700)
    monkeypatch.setenv("VIVADO", str(broken))
    with pytest.raises(ToolError, match="the build failed: ERROR: no licence"):
        write_project(find_board("artya7-35"), self_test, tmp_path / "project", build=True)
    assert [path.name for path in tmp_path.iterdir()] == ["vivado"]


def test_a_tool_of_ones_own_builds(self_test, tmp_path, monkeypatch):
    fake = tmp_path / "vivado"
    fake.write_text(
        '#!/bin/sh\ntest "$*" = "-mode batch -log streamjoin.log -source streamjoin.tcl" && touch streamjoin.bit\n'
    )
    fake.chmod(0o700)
    monkeypatch.setenv("VIVADO", str(fake))
    project = write_project(find_board("artya7-35"), self_test, tmp_path / "project")
    assert project.bitstreams == ("streamjoin.bit",)
    assert project.build_seconds < 60


def test_yosys_as_a_program(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.v").write_text("module a(input x, output y); assign y = ~x; endmodule\n")
    (tmp_path / "a.ys").write_text("read_verilog a.v\nprep -top a\nwrite_json a.json\n")
    assert yosys(["-q", "-l", "a.rpt", "a.ys"]) == 0
    assert "a" in json.loads((tmp_path / "a.json").read_text())["modules"]
    assert "PREP" in (tmp_path / "a.rpt").read_text()
    assert yosys(["-V"]) == 0
    assert capsys.readouterr().out.startswith("Yosys 0.")


def test_tools_named_by_the_environment_come_first(monkeypatch):
    monkeypatch.setenv("ECPPACK", "true")
    assert find_tool("ECPPACK", "ecppack").endswith("/true")
    monkeypatch.delenv("ECPPACK")
    assert find_tool("NO_SUCH_TOOL", "no-such-tool") is None


def test_vivado_fails_when_timing_is_missed_and_its_clock_begins_at_the_port(self_test, tmp_path):
    write_project(find_board("artya7-35"), self_test, tmp_path / "project", build=False)
    script = (tmp_path / "project" / "streamjoin.tcl").read_text()
    assert script.index("-slack_lesser_than 0") < script.index("exit 1") < script.index("write_bitstream")
    constraints = (tmp_path / "project" / "streamjoin.xdc").read_text()
    assert 'create_clock -name clk100_0__io -period 10.0 [get_ports "clk100_0__io"]' in constraints
    assert "get_nets" not in constraints


@pytest.mark.parametrize(("slack", "status"), [("1.203", 0), ("-0.017", 1)])
def test_quartus_fails_when_timing_is_missed(self_test, tmp_path, slack, status):
    """The script is run with tools that do nothing, beside the summary that they would have left."""
    project = tmp_path / "project"
    write_project(find_board("de10nano"), self_test, project, build=False)
    (project / "streamjoin.sta.summary").write_text(f"Type  : Slow 1100mV 85C Model Setup 'clk'\nSlack : {slack}\n")
    tools = {f"QUARTUS_{tool}": "true" for tool in ("MAP", "FIT", "ASM", "STA")}
    done = subprocess.run(
        ["sh", "build_streamjoin.sh"], cwd=project, env=os.environ | tools, capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    assert ("timing was missed" in done.stdout) == bool(status)


def test_quartus_says_the_same_of_both_files(self_test, tmp_path):
    write_project(find_board("de10nano"), self_test, tmp_path / "project", build=False)
    silenced = (tmp_path / "project" / "streamjoin.srf").read_text()
    files = re.findall(r'"(\w+\.v)" .* (\d+) "" 0 0 ', silenced)
    assert {kind for file, kind in files if file == "streamjoin.v"} == {
        kind for file, kind in files if file == "streamjoin_self_test.v"
    }


def test_an_old_yosys_on_the_path_is_in_nobodys_way(self_test, tmp_path, monkeypatch):
    old = tmp_path / "bin" / "yosys"
    old.parent.mkdir()
    old.write_text("#!/bin/sh\necho Yosys 0.23\n")
    old.chmod(0o700)
    monkeypatch.setenv("PATH", f"{old.parent}:{os.environ['PATH']}")
    written = write_project(find_board("de10nano"), self_test, tmp_path / "project", build=False)
    assert "streamjoin.v" in written.files
