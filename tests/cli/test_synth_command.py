"""The command ``synth``: a real run, its JSON, and its errors."""

import json

import pytest

from streamjoin.cli.main import main

VALUES = ("cores=2", "window=4", "key_width=4", "payload_width=2", "match_queue=4")
TINY = ("handshake", *(word for value in VALUES for word in ("-p", value)))


@pytest.fixture
def streamjoin(capsys):
    """Runs a command in this process: its status, output and errors."""

    def run(*words):
        status = main([*map(str, words)])
        return status, *capsys.readouterr()

    return run


def test_targets_are_listed_without_a_design(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["synth", "--targets"])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert any("ecp5-85k" in line and "LFE5UM5G-85F" in line and "post-route" in line for line in lines)
    assert any("xc7" in line and "estimate" in line for line in lines)


def test_json_and_words(streamjoin, tmp_path):
    status, out, err = streamjoin("synth", *TINY, "--target", "ice40-hx8k", "--json", tmp_path / "cost.json")
    assert (status, err) == (0, "")
    assert "MHz post-route" in out
    assert "LUTs" in out
    assert "longest path: " in out
    summary = json.loads((tmp_path / "cost.json").read_text())
    assert summary["design"] == "handshake"
    assert summary["parameters"]["cores"] == 2
    assert summary["target"] == "ice40-hx8k"
    assert summary["clock"] == "post-route"
    assert summary["fmax_mhz"]["median"] == summary["fmax_mhz"]["seeds"]["1"] > 20
    assert min(summary[name] for name in ("luts", "ffs", "seconds")) > 0
    assert {"pyosys", "amaranth"} < set(summary["versions"])


def test_parts_slowest_first(streamjoin):
    status, out, _ = streamjoin("synth", *TINY, "--target", "cycloneiv", "--parts", "--json", "-")
    assert status == 0
    parts = json.loads(out)["parts"]
    assert {"HandshakeJoin", "ParallelCore", "MergingTree", "FIFO"} <= {part["kind"] for part in parts}
    assert parts[0]["kind"] == "HandshakeJoin"  # without a clock the largest
    assert sorted(parts, key=lambda part: -part["luts"]) == parts


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("handshake",), "--target is missing: give one of ecp5-25k, "),
        (("handshake", "--target", "ecp6"), "there is no target 'ecp6'; there are ecp5-25k, "),
        (("shakehand", "--target", "xc7"), "there is no design 'shakehand'"),
        (("handshake", "--target", "xc7", "-p", "cores=0"), "cores must be a whole number from 1 up"),
        (("handshake", "--target", "xc7", "--json", "/nowhere/cost.json"), "/nowhere/cost.json cannot be written"),
    ],
)
def test_errors_in_one_sentence(streamjoin, words, sentence):
    status, out, err = streamjoin("synth", *words)
    assert (status, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1


def test_too_large_in_one_sentence(streamjoin):
    status, out, err = streamjoin("synth", "nested-loop", "-p", "window=1024", "--target", "ice40-up5k")
    assert (status, out) == (2, "")
    assert err.startswith("streamjoin: nested-loop -p window=1024 needs ")
    assert err.endswith("block RAMs, ice40-up5k has 30: make it smaller, or take a larger target\n")
