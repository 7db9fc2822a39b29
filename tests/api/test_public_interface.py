"""Joins, runs and what goes into them, as users call them."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from amaranth.lib import wiring
from pyarrow import csv, parquet

import streamjoin as sj
from streamjoin.cli.main import main
from streamjoin.hdl.registry import find, installed
from streamjoin.reference.predicates import parse_predicate

SMALL = {"cores": 2, "window": 8}
RANDOM = np.random.default_rng(5)
COLUMNS = {"stream": np.array(["R", "S"])[RANDOM.integers(0, 2, 200)], "key": RANDOM.integers(0, 20, 200)}


@pytest.fixture(scope="module")
def join() -> sj.Join:
    return sj.join("handshake", **SMALL)


@pytest.fixture(scope="module")
def run(join) -> sj.Run:
    return join.simulate(COLUMNS)


def as_file(path):
    table = pa.table(COLUMNS)
    (parquet.write_table if path.suffix == ".parquet" else csv.write_csv)(table, path)
    return path


WAYS_IN = {
    "a frame": lambda _: pd.DataFrame(COLUMNS),
    "a frame with more": lambda _: pd.DataFrame(COLUMNS).assign(
        note=object(), stream=pd.Categorical(COLUMNS["stream"])
    ),
    "a table": lambda _: pa.table(COLUMNS),
    "lists": lambda _: {name: column.tolist() for name, column in COLUMNS.items()},
    "narrow numbers": lambda _: {**COLUMNS, "key": COLUMNS["key"].astype(np.uint8)},
    "CSV": lambda folder: as_file(folder / "tuples.csv"),
    "the name of a file": lambda folder: str(as_file(folder / "tuples.csv")),
    "Parquet": lambda folder: as_file(folder / "tuples.parquet"),
}


@pytest.mark.parametrize("way", WAYS_IN)
def test_every_way_in_gives_the_same_run(way, join, run, tmp_path):
    other = join.simulate(WAYS_IN[way](tmp_path))
    assert other.exact
    assert other.results.num_rows > 50
    assert other.results.equals(run.results)


def test_a_run(run):
    assert run.exact
    assert run.results.column_names == ["R", "S", "key", "cycle"]
    assert len(run.latencies) == run.results.num_rows == run.summary()["results"]
    assert run.latencies.min() == run.summary()["latency_cycles"]["min"] > 0
    assert repr(run) == f"<Run of handshake: 200 tuples, {run.results.num_rows} results, exact>"
    later = np.maximum(run.results["R"].to_numpy(), run.results["S"].to_numpy())
    assert (run.results["cycle"].to_numpy() > later / 2).all()  # two tuples a cycle at most
    keys = COLUMNS["key"][run.results["R"].to_numpy()]
    assert (run.results["key"].to_numpy() == keys).all()


@pytest.mark.parametrize("name", ["results.csv", "results.parquet"])
def test_results_are_written_as_the_command_does(name, run, tmp_path):
    source, theirs, ours = as_file(tmp_path / "tuples.csv"), tmp_path / f"theirs-{name}", tmp_path / f"ours-{name}"
    words = ["-p", "cores=2", "-p", "window=8", "--input", str(source), "--output", str(theirs)]
    assert main(["sim", "handshake", *words]) == 0
    run.write(ours)
    assert ours.read_bytes() == theirs.read_bytes()


def test_generated_tuples_and_figures_are_those_of_the_command(join, capsys):
    how = {"tuples": 300, "match_rate": 0.1, "seed": 3, "arrivals": "bursty", "rate": "1/3", "pace": "poisson"}
    how |= {"input_stalls": 0.2, "output_stalls": 0.3}
    words = [word for name, value in how.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    assert main(["sim", "handshake", "-p", "cores=2", "-p", "window=8", *words, "--json", "-"]) == 0
    theirs, ours = json.loads(capsys.readouterr().out), join.simulate(**how).summary()
    timing = {"build_seconds", "sim_seconds", "cycles_per_second"}
    assert theirs.keys() == ours.keys()
    assert {name: ours[name] for name in ours.keys() - timing} == {name: theirs[name] for name in ours.keys() - timing}
    assert ours["check"] == "exact"
    assert ours["offered_tuples_per_cycle"] == pytest.approx(1 / 3)


def test_times_and_second_keys():
    join = sj.join("handshake", cores=2, window=4, span=5, predicate="band2:1,1")
    columns = {"stream": list("RSSR"), "key": [5, 6, 6, 4], "key2": [1, 2, 9, 2], "time": [0, 3, 3, 8]}
    run = join.simulate(columns)
    assert run.exact
    assert run.results.select(["R", "S", "key_R", "key2_S"]).to_pylist() == [{"R": 0, "S": 1, "key_R": 5, "key2_S": 2}]


def test_more_streams():
    run = sj.join("circular", streams=3, window=2).simulate({"stream": ["S1", "S2", "S3"], "key": [1, 1, 1]})
    assert run.exact
    assert run.results.select(["S1", "S2", "S3"]).to_pylist() == [{"S1": 0, "S2": 1, "S3": 2}]


def test_a_function_is_a_predicate():
    join = sj.join("handshake", **SMALL, predicate=lambda r, s: (r.key <= s.key + 3) & (s.key <= r.key + 1))
    assert join.parameters.predicate.spec == "(r.key - s.key <= 3) & (- r.key + s.key <= 1)"
    ours, theirs = join.simulate(COLUMNS), sj.join("handshake", **SMALL, predicate="bands:-1..3").simulate(COLUMNS)
    assert ours.exact
    assert ours.results.num_rows == theirs.results.num_rows > 200
    # As text, what it says makes the same join.
    assert sj.join("handshake", **join.parameters.as_dict()) == join


def test_a_function_may_look_at_the_second_key():
    join = sj.join("nested-loop", window=4, predicate=lambda r, s: (r.key == s.key) & (r.key2 < s.key2))
    columns = {"stream": list("RSS"), "key": [5, 5, 5], "key2": [1, 2, 1]}
    assert join.simulate(columns).results.select(["R", "S"]).to_pylist() == [{"R": 0, "S": 1}]


def test_designs_are_named_or_given():
    assert sj.designs() == {name: design.summary for name, design in installed().items()}
    assert sj.join(find("handshake"), **SMALL) == sj.join("handshake", **SMALL)
    assert sj.join("handshake", preset="parallel-64", window=128).parameters.windows == (128, 128)
    assert sj.join("handshake", window=np.int64(16), cores="4").parameters.cores == 4
    assert sj.join("handshake", predicate=parse_predicate("ne")).parameters.predicate.spec == "ne"
    assert str(sj.join("handshake", cores=4)) == "handshake -p cores=4"
    assert len({sj.join("handshake", cores=4), sj.join("handshake", cores=4), sj.join("handshake", cores=2)}) == 2


def test_a_design_that_nobody_has_installed():
    mine = replace(find("handshake"), name="mine")
    join = sj.join(mine, **SMALL)
    assert join.simulate(COLUMNS).exact
    assert join.simulate(COLUMNS).summary()["design"] == "mine"
    assert "module mine(" in join.verilog().text
    assert str(join).startswith("mine -p ")


@pytest.mark.parametrize(
    ("sentence", "design", "parameters"),
    [
        ("there is no design 'handshak'; .*: did you mean handshake.$", "handshak", {}),
        ("there is no parameter corse; .*: did you mean cores.$", "handshake", {"corse": 2}),
        ("has no preset 'paralel-64'; .*: did you mean parallel-64.$", "handshake", {"preset": "paralel-64"}),
        ("cores must be a whole number from 1 up, not 2.5", "handshake", {"cores": 2.5}),
        ("no predicate is called 'bnad'", "handshake", {"predicate": "bnad"}),
        ("'function <lambda>' uses . between numbers", "handshake", {"predicate": lambda r, s: r.key * 2 == s.key}),
        ("'function <lambda>' fails .KeyError", "handshake", {"predicate": lambda r, s: r.key == s.key + {}[0]}),
    ],
)
def test_what_cannot_be_made_is_one_sentence(sentence, design, parameters):
    with pytest.raises(sj.ParameterError, match=sentence) as caught:
        sj.join(design, **parameters)
    assert len(str(caught.value)) <= 300


@pytest.mark.parametrize(
    ("sentence", "call"),
    [
        ("one of them", {}),
        ("one of them", {"source": COLUMNS, "tuples": 5}),
        ("match_rate goes with tuples=N", {"source": COLUMNS, "match_rate": 0.1}),
        ("not from a list", {"source": [1, 2]}),
        ("the table has no column 'key'", {"source": {"stream": ["R"]}}),
        (
            "the table, row 2: stream 'Q' is unknown: write one of R, S",
            {"source": {"stream": ["R", "Q"], "key": [1, 2]}},
        ),
        ("the table, row 2: key -2 is negative", {"source": {"stream": ["R", "S"], "key": [1, -2]}}),
        ("the table, row 1: key 1.5 is not a whole number", {"source": {"stream": ["R"], "key": [1.5]}}),
        ("the columns make no table", {"source": {"stream": ["R", "S"], "key": [1]}}),
        ("the columns make no table", {"source": {"stream": ["R", "S"], "key": [1, "x"]}}),
        ("none.csv does not exist", {"source": "none.csv"}),
        ("no column 'time'", {"source": COLUMNS, "pace": "time"}),
        ("-1 tuples cannot be generated", {"tuples": -1}),
        ("above 0, not 'fast'", {"tuples": 5, "rate": "fast"}),
        ("offers nothing", {"tuples": 5, "rate": 0}),
        ("pace poisson needs a rate", {"tuples": 5, "pace": "poisson"}),
        ("there is no pace 'evn'; .* did you mean even.$", {"tuples": 5, "rate": 1, "pace": "evn"}),
        ("input_stalls must be at least 0 and below 1", {"tuples": 5, "input_stalls": 1.0}),
        ("ends in .vcd or .fst, not to 'waves.txt'", {"tuples": 5, "waves": "waves.txt"}),
    ],
)
def test_what_cannot_be_run_is_one_sentence(join, sentence, call):
    with pytest.raises(sj.InputError, match=sentence) as caught:
        join.simulate(**call)
    assert len(str(caught.value)) <= 300


def test_waves_and_progress(join, tmp_path):
    heard = []
    waves = tmp_path / "waves.vcd"
    run = join.simulate(tuples=50, match_rate=0.2, waves=waves, progress=lambda *words: heard.append(words))
    assert run.exact
    assert "$enddefinitions" in waves.read_text()
    assert heard[:2] == [("building handshake", 0, 0), ("tuples", 0, 50)]


def test_unchecked_runs_are_not_exact(join):
    run = join.simulate(tuples=50, match_rate=0.2, check=False)
    assert not run.exact
    assert run.summary()["check"] == "skipped"


def test_verilog(join, tmp_path):
    verilog = join.verilog(name="myjoin", axi=True)
    verilog.write(tmp_path / "myjoin.v")
    assert (tmp_path / "myjoin.v").read_text() == verilog.text
    assert "module myjoin(" in verilog.text
    assert json.loads((tmp_path / "myjoin.json").read_text()) == verilog.manifest
    assert verilog.manifest["result"] == "m_axis_result"
    with pytest.raises(sj.ParameterError, match="'2nd' cannot name a Verilog module"):
        join.verilog(name="2nd")


def test_area_without_a_clock():
    cost = sj.join("nested-loop", window=4).synthesise("ecp5-25k", area_only=True).as_dict()
    assert cost["luts"] > 0
    assert cost["fmax_mhz"]["median"] is None
    with pytest.raises(ValueError, match="there is no target 'ecp6'"):
        sj.join("nested-loop").synthesise("ecp6")


def test_the_component_has_the_ports_that_are_said(join):
    component = join.component()
    assert isinstance(component, wiring.Component)
    said = sj.Join.component.__doc__
    for port in component.signature.members:
        assert f"``{port}``" in said
