"""``sim --rate``, ``--pace`` and ``--clock``; and runs in which nothing matches say so."""

import argparse
import json

import pytest

from streamjoin.cli import tuples
from streamjoin.cli.main import main

NESTED = ("nested-loop", "-p", "window_r=3", "-p", "window_s=8", "-p", "queue=1")
CHAIN = ("handshake", "-p", "cores=2", "-p", "window=4")


@pytest.fixture
def sim(capsys):
    """Runs ``sim`` and gives what it printed, JSON as an object."""

    def run(*words, status=0):
        assert main(["sim", *map(str, words)]) == status
        out, err = capsys.readouterr()
        assert err == ""
        return json.loads(out) if "-" in words else out

    return run


def test_offered_evenly_at_random_or_in_bursts(sim):
    words = (*NESTED, "--tuples", 3000, "--match-rate", 0.1, "--seed", 3, "--rate", 0.05)
    summaries = {pace: sim(*words, "--pace", pace, "--json", "-") for pace in ("even", "poisson", "bursty")}
    assert all(summary["check"] == "exact" for summary in summaries.values())
    assert all(summary["offered_tuples_per_cycle"] == 0.05 for summary in summaries.values())
    assert all(summary["sustained"] and not summary["results_after_drain"] for summary in summaries.values())
    means = [summary["sojourn_cycles"]["mean"] for summary in summaries.values()]
    assert means == sorted(means)
    assert means[2] > 3 * means[0]
    waits = [summary["waiting_max"] for summary in summaries.values()]
    assert waits == sorted(waits)
    assert set(summaries["even"]["sojourn_cycles"]) == set(summaries["even"]["latency_cycles"])
    again = sim(*words, "--pace", "poisson", "--json", "-")
    assert again["sojourn_cycles"] == summaries["poisson"]["sojourn_cycles"]
    other = sim(*words, "--pace", "poisson", "--seed", 4, "--json", "-")
    assert other["sojourn_cycles"] != summaries["poisson"]["sojourn_cycles"]


def test_too_much_is_not_sustained(sim):
    said = sim(*NESTED, "--tuples", 1000, "--rate", "1/4")
    assert "offered: 0.25 tuples a cycle; " in said
    assert "not sustained: the queue in front still grew at the end" in said


def test_without_the_options_nothing_is_offered(sim):
    words = (*NESTED, "--tuples", 300, "--match-rate", 0.1)
    new = {"offered_tuples_per_cycle", "sojourn_cycles", "results_after_drain", "waiting_max", "sustained"}
    plain = sim(*words, "--json", "-")
    assert not new & set(plain)
    assert new <= set(sim(*words, "--rate", 0.1, "--json", "-"))
    said = sim(*words)
    assert "  latency in cycles, from acceptance, input offered as fast as it is taken: min " in said
    assert "sojourn" not in said


def test_by_the_time_column(sim, tmp_path):
    (tmp_path / "in.csv").write_text("stream,key,time\nR,1,1000\nS,1,1300\nR,1,1900\n")
    words = (*NESTED, "--input", tmp_path / "in.csv", "--pace", "time")
    ticks = sim(*words, "--json", "-")
    assert ticks["offered_tuples_per_cycle"] == 3 / 901
    assert 910 < ticks["cycles"] < 950
    scaled = sim(*words, "--rate", 0.03, "--json", "-")
    assert scaled["offered_tuples_per_cycle"] == 0.03
    assert scaled["cycles"] < 150


def test_a_clock_adds_seconds(sim):
    words = (*NESTED, "--tuples", 400, "--match-rate", 0.1, "--rate", 0.05, "--clock", 200)
    summary = sim(*words, "--json", "-")
    assert summary["clock_mhz"] == 200
    assert summary["tuples_per_second"] == pytest.approx(summary["tuples_per_cycle"] * 200e6)
    assert summary["offered_tuples_per_second"] == 10e6
    for name in ("latency", "sojourn"):
        for which, cycles in summary[f"{name}_cycles"].items():
            assert summary[f"{name}_ns"][which] == pytest.approx(5 * cycles)
    said = sim(*words)
    assert "at 200 MHz: " in said
    assert "10,000,000 offered" in said
    assert "sojourn in ns: min " in said


def test_a_chain_says_what_it_holds_back(sim, tmp_path, capsys):
    (tmp_path / "in.csv").write_text("stream,key\nR,1\nS,1\n")
    said = sim(*CHAIN, "--input", tmp_path / "in.csv", "--rate", 0.01)
    assert "not in the sojourn: 1 of 1 results came only with the drain, because tuples move on only as later" in said
    assert main(["designs"]) == 0
    listed = capsys.readouterr().out
    assert listed.count("holds results back until later tuples or a drain come: ") == 2
    assert main(["designs", "--json"]) == 0
    designs = {design["name"]: design for design in json.loads(capsys.readouterr().out)}
    assert [name for name, design in designs.items() if design["holds_back"]] == ["handshake", "handshake-async"]


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("--rate: must be a number of tuples a cycle above 0, not '0'", ("--rate", "0")),
        ("--rate: must be a number of tuples a cycle above 0, not 'nan'", ("--rate", "nan")),
        ("--rate: must be a number of tuples a cycle above 0, not '-1'", ("--rate=-1",)),
        ("--rate: must be a number of tuples a cycle above 0, not '1e999999999'", ("--rate", "1e999999999")),
        ("9 tuples take more than 2^40 cycles: raise the rate", ("--rate", "1e-30")),
        ("invalid choice: 'slow'", ("--rate", "1", "--pace", "slow")),
        ("--pace bursty needs a rate: give --rate X, in tuples a cycle", ("--pace", "bursty")),
        ("--clock: must be a number of MHz above 0, not '0'", ("--clock", "0")),
        ("--clock: must be a number of MHz above 0, not 'inf'", ("--clock", "inf")),
    ],
)
def test_wrong_loads_are_refused(sentence, words, capsys):
    try:
        status = main(["sim", *NESTED, "--tuples", "9", *words])
    except SystemExit as ended:
        status = ended.code
    out, err = capsys.readouterr()
    assert (status, out) == (2, "")
    assert sentence in err


def test_pace_time_needs_the_column(tmp_path, capsys):
    (tmp_path / "in.csv").write_text("stream,key\nR,1\n")
    assert main(["sim", *NESTED, "--input", str(tmp_path / "in.csv"), "--pace", "time"]) == 2
    assert "has no column 'time'" in capsys.readouterr().err


def test_the_help_says_what_is_counted(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["sim", "--help"])
    assert "tuples offered a cycle" in capsys.readouterr().out


def test_nothing_matched(sim, tmp_path):
    (tmp_path / "in.csv").write_text("stream,key\nR,1\nS,2\n")
    said = sim(*NESTED, "--tuples", 50)
    assert "  nothing matched: 0 results (--match-rate X makes tuples match with that probability, a smaller" in said
    assert "nothing matched: 0 results (as --match-rate 0 asks for)" in sim(*NESTED, "--tuples", 9, "--match-rate", 0)
    assert "nothing matched: 0 results (check the keys" in sim(*NESTED, "--input", tmp_path / "in.csv")
    assert "nothing matched" not in sim(*NESTED, "--tuples", 50, "--match-rate", 0.5)
    assert "nothing matched" not in sim(*NESTED, "--tuples", 0)


@pytest.mark.parametrize(
    ("summary", "line"),
    [
        ({"tuples": 9, "results": 0, "check": "exact"}, "  nothing matched: 0 results (raise --match-rate, "),
        ({"tuples": 9, "results": 0, "check": "skipped"}, "  nothing matched: 0 results (raise --match-rate, "),
        ({"tuples": 9, "results": 1, "check": "exact"}, None),
        ({"tuples": 9, "results": 0, "check": {"missing": 3}}, None),
    ],
)
def test_only_where_nothing_should_have_matched(summary, line):
    said = tuples.nothing_matched(argparse.Namespace(input=None, match_rate=0.1), summary)
    assert [text.startswith(line) for text in said] == ([True] if line else [])
