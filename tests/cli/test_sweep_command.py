"""The command ``sweep``: what it writes, what it says, and its exit status."""

import csv
import functools
import json

import pytest

from streamjoin.cli.main import main
from streamjoin.cli.sweep import _in_words as in_words
from tests.pictures import assert_drawn
from tests.report.sample import sample


@pytest.fixture
def sweep(streamjoin):
    return functools.partial(streamjoin, "sweep")


def test_where_nothing_matched_is_told(tmp_path):
    results = sample(targets=(None,), cores=(2,))
    assert "nothing matched" not in in_words(results, tmp_path)
    results["rows"][0]["runs"][0]["match_rate"] = None
    label = results["rows"][0]["label"]
    assert f"  nothing matched: {label} has 0 results at uniform keys\n" in in_words(results, tmp_path)


def test_two_designs(sweep, tmp_path):
    words = ("-p", "cores=1,2", "-p", "window=4*cores", "--tuples", 400, "--match-rates", "0,0.1")
    done = sweep("handshake,nested-loop", *words, "--jobs", 2, "-o", "out", "--title", "Small & tiny")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert "handshake, 2 cores, windows of 8: 1." in done.stdout
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "plots",
        "points",
        "report.html",
        "results.csv",
        "results.json",
    ]
    rows = list(csv.DictReader((tmp_path / "out" / "results.csv").read_text().splitlines()))
    assert [(row["design"], row["cores"], row["window_r"], row["match_rate"]) for row in rows] == [
        ("handshake", "1", "4", "0.0"),
        ("handshake", "1", "4", "0.1"),
        ("handshake", "2", "8", "0.0"),
        ("handshake", "2", "8", "0.1"),
        ("nested-loop", "", "4", "0.0"),
        ("nested-loop", "", "4", "0.1"),
        ("nested-loop", "", "8", "0.0"),
        ("nested-loop", "", "8", "0.1"),
    ]
    assert {row["check"] for row in rows} == {"exact"}
    assert all(float(row["tuples_per_cycle"]) <= float(row["limit_tuples_per_cycle"]) for row in rows)
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["title"] == "Small & tiny"
    assert results["command"].startswith("streamjoin sweep handshake,nested-loop -p cores=1,2 -p 'window=4*cores'")
    assert {"date", "versions", "machine", "settings"} <= set(results)
    assert results["versions"]["amaranth"]
    assert results["rows"][1]["metrics"]["comparisons_per_cycle"] == 16
    assert {path.name for path in (tmp_path / "out" / "plots").iterdir()} == {
        "input.png",
        "match-rate.png",
        "latency.png",
    }
    for picture in (tmp_path / "out" / "plots").iterdir():
        assert_drawn(picture)
    page = (tmp_path / "out" / "report.html").read_text()
    assert "<h1>Small &amp; tiny</h1>" in page
    assert page.count('<th scope="row">') == 4


def test_a_wrong_result_is_status_1(sweep, tmp_path):
    """A predicate that lies to the hardware: gates see another expression than the reference."""
    (tmp_path / "liar.py").write_text(
        "from amaranth.hdl import Value\n"
        "def holds(r, s):\n"
        "    return r.key == s.key if isinstance(r.key, Value) else r.key == s.key + 1\n"
    )
    words = ("--predicate", "liar:holds", "-p", "key_width=4", "--match-rates", "none", "--tuples", 50)
    done = sweep("nested-loop", "-p", "window=4", *words, "-o", "out")
    assert done.returncode == 1
    assert "a result differs from the reference" in done.stderr
    assert "wrong result" in done.stdout
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert "missing" in results["rows"][0]["runs"][0]["check"]
    assert "What failed" in (tmp_path / "out" / "report.html").read_text()

    # The function mended, the point is measured anew.
    (tmp_path / "liar.py").write_text("def holds(r, s):\n    return r.key == s.key\n")
    done = sweep("nested-loop", "-p", "window=4", *words, "-o", "out")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("there is no design 'bubble'", ("bubble", "-o", "out")),
        (
            "payload_width=8 cannot number 500 tuples",
            ("handshake", "-p", "payload_width=32,8", "--tuples", "500", "-o", "out"),
        ),
        ("there is no parameter coers", ("handshake", "-p", "coers=2", "-o", "out")),
        ("no combination of these parameters makes a handshake", ("handshake", "-p", "cores=99", "-o", "out")),
        ("there is no target 'abacus'", ("handshake", "--target", "abacus", "-o", "out")),
        ("must lie between 0 and 1", ("handshake", "--match-rates", "0,2", "-o", "out")),
        ("must be different probabilities", ("handshake", "--match-rates", "0,0", "-o", "out")),
        ("cannot be made a folder", ("handshake", "-o", "file/out")),
    ],
)
def test_wrong_usage(tmp_path, monkeypatch, capsys, sentence, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    try:
        status = main(["sweep", *words])
    except SystemExit as left:
        status = left.code
    assert status == 2
    assert sentence in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
