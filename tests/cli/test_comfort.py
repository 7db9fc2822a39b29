"""What makes the command line a pleasure: speed, completion, guesses at what was meant, numbers, presets, files."""

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import streamjoin as package
from streamjoin.cli.main import COMMANDS, main
from streamjoin.hdl.registry import DESIGNS, find
from streamjoin.synth.flow.targets import TARGETS

SMALL = ("handshake", "-p", "cores=2", "-p", "window=4")


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["smi"]])
def test_no_command_is_loaded_before_it_is_wanted(words):
    program = "import sys; from streamjoin.cli.main import main\ntry: main(sys.argv[1:])\nfinally: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert not {"amaranth", "numpy", "pyarrow", "argcomplete", "streamjoin.cli.sim"}.intersection(done.stdout.split())
    assert "streamjoin.cli.main" in done.stdout.split()


def test_version(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"streamjoin {package.__version__}\n"


def test_summaries_are_the_commands_own():
    assert {name: import_module(f"streamjoin.cli.{name}").__doc__.partition("\n")[0] for name in COMMANDS} == COMMANDS


@pytest.mark.parametrize(
    ("words", "guess"),
    [
        (["smi", "handshake"], "sim"),
        (["sim", "handshek", "--tuples", "5"], "handshake"),
        (["designs", "circle"], "circular"),
        (["sim", *SMALL, "-p", "windw_r=5", "--tuples", "5"], "window_r"),
        (["sim", "handshake", "-p", "preset=paper-01", "--tuples", "5"], "paper-001"),
        (["synth", "handshake", "--target", "ecp585k"], "ecp5-85k"),
        (["reproduce", "000-table1"], "000-table-1"),
    ],
)
def test_a_guess_at_what_was_meant(words, guess, capsys):
    try:
        status = main(words)
    except SystemExit as left:
        status = left.code
    said = capsys.readouterr().err
    assert status == 2
    assert said.endswith(f": did you mean {guess}?\n")
    assert len(said) <= 301


def completions(line: str) -> list[str]:
    """What a shell is told when TAB is pressed at the end of a line; it listens at descriptor 8."""
    read, write = os.pipe()
    asking = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_SHELL": "bash", "_ARGCOMPLETE_IFS": "\n", "IFS": "\n"}
    asking |= {"COMP_LINE": line, "COMP_POINT": str(len(line))}
    program = f"import os, sys; os.dup2({write}, 8); from streamjoin.cli.main import main; main()"
    subprocess.run([sys.executable, "-c", program], env=os.environ | asking, pass_fds=[write], check=True)
    os.close(write)
    with os.fdopen(read) as answer:
        return [word.strip() for word in answer.read().split("\n")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("streamjoin s", ["sim", "synth", "sweep", "spark"]),
        ("streamjoin sim hand", ["handshake", "handshake-async"]),
        ("streamjoin designs cir", ["circular"]),
        ("streamjoin verilog handshake -p s", ["span=", "span_r=", "span_s=", "scan=", "storage="]),
        ("streamjoin verilog handshake -p scan=", ["scan=parallel", "scan=sequential"]),
        ("streamjoin sim handshake -p preset=", [f"preset={name}" for name in find("handshake").presets]),
        ("streamjoin sim handshake --predicate band", ["band:", "bands:", "band2:"]),
        ("streamjoin synth llhj --target ", list(TARGETS)),
        ("streamjoin board ulx3s-8", ["ulx3s-85f"]),
        ("streamjoin reproduce 000-table-", ["000-table-1", "000-table-2"]),
        ("streamjoin sim nosuch -p win", ["window="]),
    ],
)
def test_completion(line, expected):
    assert sorted(completions(line)) == sorted(expected)


def test_one_design(capsys):
    assert main(["designs", "llhj", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["name"] == "llhj"
    assert told["presets"] == {name: dict(values) for name, values in find("llhj").presets.items()}
    assert main(["designs", "llhj"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"llhj: {DESIGNS['llhj'].summary}")
    assert "handshake:" not in text
    assert main(["designs", "--json"]) == 0
    assert told in json.loads(capsys.readouterr().out)


def test_a_preset_and_what_is_given_beside_it(capsys):
    def parameters(*words):
        assert main(["sim", "handshake", *words, "--tuples", "10", "--json", "-"]) == 0
        return json.loads(capsys.readouterr().out)["parameters"]

    told = parameters("-p", "cores=2", "-p", "preset=paper-001", "-p", "window=16")
    assert (told["cores"], told["window_r"], told["window_s"]) == (2, 16, 16)
    assert (told["scan"], told["merger"]) == ("sequential", "three-state")


def test_numbers_with_powers(capsys):
    words = ["-p", "window=0.0625Ki", "-p", "cores=1e0", "--predicate", "band:1k", "--tuples", "0.2k", "--seed", "1M"]
    assert main(["sim", "handshake", *words, "--json", "-"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["tuples"], told["parameters"]["window_r"], told["parameters"]["cores"]) == (200, 64, 1)
    assert told["parameters"]["predicate"] == "band:1000"
    with pytest.raises(SystemExit):
        main(["sim", "handshake", "--tuples", "1.5"])
    assert "must be a whole number from 0 up, not '1.5'" in capsys.readouterr().err


@pytest.mark.parametrize("absolute", [False, True])
def test_a_predicate_in_a_file(absolute, streamjoin, tmp_path):
    folder = tmp_path / "some where"
    folder.mkdir()
    (folder / "beside.py").write_text("EPS = 1\n")
    (folder / "mine.py").write_text(
        "from beside import EPS\ndef near(r, s):\n    return (r.key <= s.key + EPS) & (s.key <= r.key)\n"
    )
    (tmp_path / "in.csv").write_text("stream,key\nR,5\nS,6\nS,4\nS,5\n")
    path = (folder if absolute else Path(folder.name)) / "mine.py"
    done = streamjoin("sim", *SMALL, "--predicate", f"{path}:near", "--input", "in.csv", "--json", "-")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["results"], told["parameters"]["predicate"]) == (2, f"{path}:near")
    for wrong, sentence in (("none.py:near", "there is no file none.py"), (f"{path}:far", "has no attribute 'far'")):
        done = streamjoin("sim", *SMALL, "--predicate", wrong, "--tuples", 5)
        assert done.returncode == 2
        assert sentence in done.stderr


def test_a_condition_is_a_predicate(streamjoin, tmp_path):
    (tmp_path / "in.csv").write_text("stream,key\nR,5\nS,6\nS,4\nS,5\n")
    words = ("--predicate", "(r.key - s.key <= 1) & (s.key <= r.key)", "--input", "in.csv", "--json", "-")
    done = streamjoin("sim", *SMALL, *words)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"] == 2


def test_area_alone(capsys):
    assert main(["synth", "nested-loop", "-p", "window=4", "--target", "ecp5-25k", "--area-only"]) == 0
    said = capsys.readouterr().out
    assert "clock: not known" in said
    assert "area: " in said
