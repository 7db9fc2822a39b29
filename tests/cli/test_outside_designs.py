"""A design from outside is named wherever one of ours is: as its package is installed, and as module:NAME."""

import json
import shutil
from pathlib import Path

import pytest

from tests.outside import RENAMED, add_entries, add_module

ROOT = Path(__file__).parents[2]
INSTALLED, BY_MODULE = "tiny-join", "tiny_join.design:DESIGN"


@pytest.fixture
def outside(tmp_path):
    """The folder of the command has the example's package, as if it were installed there."""
    shutil.copytree(ROOT / "examples" / "tiny_join" / "tiny_join", tmp_path / "tiny_join")
    add_entries(tmp_path, tiny=BY_MODULE)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (f"sim {INSTALLED} -p window=2 --tuples 300 --match-rate 0.2", "check: exact"),
        (f"sim {BY_MODULE} -p preset=smallest --tuples 300 --match-rate 0.2", "check: exact"),
        (f"verilog {INSTALLED} -p window=2 -o mine.v", "mine.v: 2 modules"),
        (f"cocotb {INSTALLED} -p window=2", "tiny-join on verilator: 29 tests passed, 0 failed"),
        (f"synth {BY_MODULE} -p window=2 --target xc7", "tiny-join -p window=2 on xc7"),
        (f"board ulx3s-85f {BY_MODULE} -p window=2 --tuples 100 --no-build -o board", "self-test: 100 tuples"),
        (
            f"sweep {BY_MODULE},nested-loop -p window=2 -p tiny-join.queue=1,2 --match-rates 0.2 --tuples 300 -o out",
            "tiny-join, queue 2: ",
        ),
    ],
    ids=lambda text: text.split()[0],
)
@pytest.mark.usefixtures("outside")
def test_every_command_takes_it(streamjoin, words, said):
    done = streamjoin(*words.split())
    assert (done.returncode, done.stderr) == (0, "")
    assert said in done.stdout


def test_the_list_has_it_and_tells_in_one_line_what_it_has_not(streamjoin, outside):
    shutil.rmtree(outside / "outside-1.0.dist-info")
    add_module(outside, "broken", "import nothing_of_this_name")
    add_entries(outside, broken="broken:DESIGN", tiny=BY_MODULE)
    done = streamjoin("designs", "--json")
    why = "ModuleNotFoundError: No module named 'nothing_of_this_name'"
    assert done.stderr == f"streamjoin: the design broken of broken:DESIGN is left out ({why})\n"
    assert "tiny-join" in [design["name"] for design in json.loads(done.stdout)]
    assert "tiny-join: one core, windows in registers" in streamjoin("designs").stdout
    assert streamjoin("sim", INSTALLED, "-p", "window=2", "--tuples", 9, "--match-rate", 1).stderr == done.stderr
    assert streamjoin("sim", BY_MODULE, "-p", "window=2", "--tuples", 9, "--match-rate", 1).stderr == ""


def test_a_change_of_a_design_from_outside_is_measured_anew(streamjoin, outside):
    sweep = ("sweep", BY_MODULE, "-p", "window=2", "--match-rates", 0.2, "--tuples", 300, "-o", "out")
    parts = outside / "out" / "points"
    for count, text in ((1, ""), (2, "# another thought\n")):
        source = outside / "tiny_join" / "join.py"
        source.write_text(source.read_text() + text)
        assert streamjoin(*sweep).returncode == 0
        assert len(list(parts.iterdir())) == count


def test_two_designs_of_one_name_are_not_mixed_up(streamjoin, outside):
    add_module(outside, "mine", RENAMED.format(name="tiny-join"))
    done = streamjoin("sweep", f"{BY_MODULE},mine:DESIGN", "-o", "out")
    assert done.returncode == 2
    assert done.stderr == "streamjoin: two designs are called tiny-join: rename one, or sweep them one by one\n"
