"""The command ``board``: a project in a folder, or one sentence and nothing."""

import json
from dataclasses import dataclass

import pytest

from streamjoin.cli.main import main

TINY = ("nested-loop", "-p", "window=2", "-p", "key_width=4", "-p", "payload_width=4")


@dataclass
class Done:
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def board(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        status = main(["board", *map(str, words)])
        return Done(status, *capsys.readouterr())

    return run


def test_list(board):
    done = board("--list")
    assert done.returncode == 0
    line = next(line for line in done.stdout.splitlines() if line.startswith("ulx3s-85f "))
    assert line.split() == ["ulx3s-85f", "LFE5U-85F", "25", "MHz", "3", "lights", "Trellis,", "Diamond"]


def test_project(board, tmp_path):
    done = board("arty-a7-35", *TINY, "--tuples", 500, "--seed", 3, "--no-build", "-o", "arty")
    assert done.returncode == 0, done.stderr
    assert "files for Vivado and artya7-35 (xc7a35ti)" in done.stdout
    assert "500 tuples" in done.stdout
    assert "led 1 is on if it passed" in done.stdout
    manifest = json.loads((tmp_path / "arty" / "streamjoin_self_test.json").read_text())
    assert manifest["self_test"]["tuples"] == 500
    assert f"{manifest['self_test']['results']} results expected" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["arty"]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("there is no board 'abacus'", ("abacus", *TINY, "-o", "x")),
        ("cannot be built with 'ise'", ("ulx3s-85f", *TINY, "-o", "x", "--toolchain", "ise")),
        ("has no light", ("butterstick", *TINY, "-o", "x")),
        ("give a BOARD, a DESIGN and -o DIR", ("ulx3s-85f",)),
        ("there is no design 'bubble'", ("ulx3s-85f", "bubble", "-o", "x")),
        ("on_full=drop", ("ulx3s-85f", *TINY, "-p", "on_full=drop", "-o", "x")),
        ("an even number of tuples", ("ulx3s-85f", *TINY, "--tuples", 5, "-o", "x")),
        ("cannot be written", ("artya7-35", *TINY, "--no-build", "-o", "no/such/folder")),
    ],
)
def test_wrong_usage(board, tmp_path, sentence, words):
    done = board(*words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
