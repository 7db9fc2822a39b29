"""Results that are missing by overflow: every command tells them from exactness, and allows them if it is told to."""

import csv
import json
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from streamjoin.cli.main import main
from streamjoin.spark_driver import losses, session, stream, verify
from streamjoin.spark_driver.losses import Losses

LATE = "stream,key,time\nR,1,0\nR,2,1\nS,1,2\nS,2,5\nR,2,9\n"
SENTENCE = "1 result is missing by overflow: this input needs window_r=2, not 1 (or --allow-overflows)"
ALLOW = "--allow-overflows"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a command in an empty folder: status, what it printed, and what it complained about."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        status = main([*map(str, words)])
        return status, *capsys.readouterr()

    return call


def test_sim(run, tmp_path):
    (tmp_path / "in.csv").write_text(LATE)
    words = ("sim", "nested-loop", "--input", "in.csv", "--json", "s.json", "-p", "window_s=4", "-p", "window_r=1")
    status, told, said = run(*words, "-p", "span=9")
    assert status == 1
    assert "0 missing, 0 extra, 0 repeated, 1 missing by overflow ((0, 2))" in said
    assert said.splitlines()[-1] == f"streamjoin: {SENTENCE}"
    assert "2 overflows" in told
    assert "check: 1 missing by overflow" in told
    summary = json.loads((tmp_path / "s.json").read_text())
    assert summary["check"] == {"missing": 0, "extra": 0, "repeated": 0, "missing_by_overflow": 1}
    assert summary["needed_windows"] == {"window_r": 2}

    allowed, _, said_too = run(*words, "-p", "span=9", ALLOW)
    assert (allowed, said_too) == (0, said)
    assert json.loads((tmp_path / "s.json").read_text())["check"] == summary["check"]


def test_sim_with_spans_that_differ(run, tmp_path):
    (tmp_path / "in.csv").write_text(LATE)
    words = ("sim", "nested-loop", "-p", "window=4", "-p", "span_r=3", "-p", "span_s=5")
    assert run(*words, "--input", "in.csv", "--output", "out.csv")[0] == 0
    rows = list(csv.DictReader((tmp_path / "out.csv").read_text().splitlines()))
    assert sorted((row["R"], row["S"]) for row in rows) == [("0", "2"), ("4", "3")]
    assert run(*words, "--tuples", 50, "--match-rate", 0.3)[0] == 0


def test_allowing_overflows_allows_nothing_else(run, tmp_path, monkeypatch):
    """Gates that see another predicate than the reference, and a window without room besides."""
    (tmp_path / "lying.py").write_text(
        "from amaranth.hdl import Value\n"
        "def holds(r, s):\n"
        "    return r.key == s.key if isinstance(r.key, Value) else (r.key == s.key) | (r.key == s.key + 1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "in.csv").write_text(LATE)
    words = ("--input", "in.csv", "-p", "window_r=1", "-p", "window_s=4", "-p", "span=9", "--predicate")
    status, _, said = run("sim", "nested-loop", *words, "lying:holds", ALLOW)
    assert status == 1
    assert "2 missing ((1, 2), (4, 2)), 0 extra, 0 repeated, 1 missing by overflow" in said


def test_sweep(run, tmp_path):
    words = ("sweep", "nested-loop", "-p", "window=1,16", "-p", "span_r=16", "-p", "span_s=12", "-o", "out")
    words += ("--match-rates", 0.2, "--tuples", 200)
    status, told, said = run(*words)
    assert status == 1
    assert said == "streamjoin: results are missing by overflow: give the windows more room\n"
    small, large = told.splitlines()[:2]
    assert small.endswith("missing by overflow")
    assert "missing by overflow" not in large
    assert "results are missing by overflow: this input needs window_r=9 and window_s=7, not 1 (or" in told
    rows = list(csv.DictReader((tmp_path / "out" / "results.csv").read_text().splitlines()))
    assert [(row["check"] == "exact", row["missing_by_overflow"] == "0") for row in rows] == [(False,) * 2, (True,) * 2]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "1 with results MISSING by overflow" in page
    assert "WRONG" not in page
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert ALLOW not in results["command"]

    assert run(*words, ALLOW)[0] == 0


class Session:
    """A Spark that has nothing to do."""

    read = SimpleNamespace(parquet=lambda _: SimpleNamespace(count=lambda: 7))


@pytest.mark.parametrize(("more", "expected"), [((), 1), ((ALLOW,), 0)])
def test_spark_commands(run, monkeypatch, more, expected):
    monkeypatch.setattr(session, "spark_session", lambda *_, **__: nullcontext(Session))
    design = ("handshake", "-p", "cores=2", "-p", "window=4", "-p", "span=9", *more)
    figures = dict.fromkeys(("tuples", "results", "cycles", "skew", "warm_up", "retries", "overflows"), 1)
    figures |= dict.fromkeys(("simulate_seconds", "tuples_per_second", "segments", "workers"), 1)
    figures |= {"design": "handshake", "master": "local", "latency_cycles": {"min": None}, "check_share": None}
    figures |= {"oracle": "exact", "oracle_seconds": None, "check": {"missing_by_overflow": 3}}
    outcome = verify.Verification(figures, [], [], "3 results are missing by overflow")
    monkeypatch.setattr(verify, "verify", lambda *_, **__: outcome)
    status, told, said = run("spark", "verify", *design, "--tuples", 10)
    assert (status, said) == (expected, "streamjoin: 3 results are missing by overflow\n")
    assert "check: 3 missing by overflow" in told

    monkeypatch.setattr(stream, "run_stream", lambda *_, **__: {"tuples": 9, "seconds": 1.0, "batches": 1})
    monkeypatch.setattr(losses, "losses_of", lambda *_: Losses(5, 3, (9, 4)))
    words = ("--tuples", 10, "--output", "out", "--checkpoint", "checkpoint", "--json", "-")
    status, told, said = run("spark", "stream", *design, *words)
    assert status == expected
    assert said == (
        "streamjoin: 3 results are missing by overflow: this input needs window_r=9, not 4 (or --allow-overflows)\n"
    )
    summary = json.loads(told)
    assert (summary["overflows"], summary["needed_windows"]) == (5, {"window_r": 9})
    assert summary["check"] == {"missing_by_overflow": 3}
