"""Streams give the whole join however they are cut, and exactly once however often they are killed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Windows
from streamjoin.reference.errors import DesignError
from streamjoin.reference.join import count_overflows
from streamjoin.reference.overflow import lost_results, needed_rooms
from streamjoin.reference.vectorised import window_join_array
from streamjoin.sim.run.rooms import overflow_sentence
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver.lane_task import Held, WrongResultError, advance
from streamjoin.spark_driver.losses import Losses
from streamjoin.spark_driver.oracle import Oracle
from streamjoin.spark_driver.sources import lane_of
from streamjoin.spark_driver.stream import Lanes, columns_of, run_stream
from tests.quick_spark import QUICK_WORDS

LIAR = """\
from amaranth.hdl import Value
def holds(r, s):
    return r.key == s.key if isinstance(r.key, Value) else r.key == s.key + 1
"""


class State:
    """What Spark hands to a task between micro-batches, without Spark."""

    exists, get = False, None

    def update(self, value):
        self.exists, self.get = True, value


@cache
def build(**given_parameters):
    design = find("handshake")
    return Simulator.build(design, design.parameters(**{"cores": 2} | given_parameters))


def in_batches(simulator, workload, cuts):
    """The results of a lane, with cycles, as micro-batches that end at these cuts give them, and what it lost."""
    state, rows = State(), []
    columns = columns_of(simulator.parameters)
    for start, stop in zip([0, *cuts[:-1]], cuts, strict=True):
        part = workload.slice(start, stop)
        new = type(part)(**{name: getattr(part, name) for name in ("stream", *columns)})
        found, held = advance(simulator, Held.of(state, columns), new, 0)
        held.store(state)
        rows += found[["R", "S", "cycle"]].to_numpy().tolist()
    return rows, held.losses


def losses_in(whole, predicate, windows):
    if windows.spans is None:
        return Losses()
    missing = sum(map(len, lost_results(whole, predicate, windows)))
    return Losses(count_overflows(whole, windows), missing, needed_rooms(whole, windows))


@pytest.mark.parametrize("given_parameters", [{"window_r": 5, "window_s": 9}, {"window": 4, "span_r": 7, "span_s": 40}])
@given(st.sets(st.integers(1, 299), max_size=8), st.integers(0, 2**32))
@settings(max_examples=15)
def test_where_a_lane_is_cut_does_not_matter(given_parameters, cuts, seed):
    simulator = build(**given_parameters)
    workload = Workload(seed=seed, match_rate=0.1, arrivals="bursty")
    p = simulator.parameters
    whole, windows = workload.slice(0, 300), Windows(p.windows, p.spans)
    expected = window_join_array(whole, p.predicate, windows)
    rows, losses = in_batches(simulator, workload, [*sorted(cuts), 300])
    assert losses == losses_in(whole, p.predicate, windows)
    assert sorted(row[:2] for row in rows) == sorted(expected.tolist())
    assert len({tuple(row) for row in rows}) == len(rows)


def test_a_wrong_result_stops_the_stream(tmp_path, monkeypatch):
    (tmp_path / "stream_liar.py").write_text(LIAR)
    monkeypatch.syspath_prepend(tmp_path)
    simulator = build(window=4, predicate="stream_liar:holds")
    part = Workload(seed=1).slice(0, 0)
    same = type(part)(stream=np.array([0, 1]), key=np.array([5, 5]))
    with pytest.raises(
        WrongResultError, match=r"lane 7, tuples 0 to 1 differ from the reference: .*1 extra \(\(0, 1\)\)"
    ):
        advance(simulator, Held.of(State(), ("key",)), same, 7)
    del sys.modules["stream_liar"]


def test_every_so_often_and_once_more_when_all_is_done(spark, small, tmp_path):
    lanes = Lanes(Workload(seed=4, match_rate=0.02), tuples=900, lanes=2, batch=400)
    places = tmp_path / "out", tmp_path / "checkpoint"
    seen = []
    figures = run_stream(spark, tmp_path, small, lanes, *places, every=1, progress=seen.append)
    assert (figures["batches"], figures["tuples"]) == (3, 1800)
    assert seen[-1].tuples == 1800
    again = run_stream(spark, tmp_path, small, lanes, *places, every=1)
    assert (again["batches"], again["tuples"]) == (0, 0)
    table = lanes.table(spark, ("key",), streaming=False)
    with Oracle(table, small.parameters.predicate, Windows(small.parameters.windows)) as oracle:
        expected = [tuple(row) for row in oracle.results().select("lane", "n0", "n1").collect()]
    found = [tuple(row) for row in spark.read.parquet(str(places[0])).select("lane", "R", "S").collect()]
    assert sorted(found) == sorted(expected)
    assert len(found) > 50


def test_a_wrong_design_is_told_from_a_failing_spark(spark, tmp_path, monkeypatch):
    (tmp_path / "other_liar.py").write_text(LIAR)
    monkeypatch.syspath_prepend(tmp_path)
    simulator = build(window=4, predicate="other_liar:holds")
    lanes = Lanes(Workload(keys="zipf", key_width=2), tuples=100, batch=100)
    with pytest.raises(DesignError, match="lane 0, tuples 0 to 99 differ from the reference"):
        run_stream(spark, tmp_path, simulator, lanes, tmp_path / "out", tmp_path / "checkpoint")
    del sys.modules["other_liar"]


def test_killed_three_times_and_still_exactly_once(spark, tmp_path):
    words = ["handshake", "-p", "cores=2", "-p", "window=8", "-p", "span_r=30", "-p", "span_s=6"]
    words += ["--tuples", 24_000, "--lanes", 2, "--batch", 2000]
    words += ["--match-rate", 0.01, "--arrivals", "random", "--master", "local[2]"]
    words += ["--output", "out", "--checkpoint", "checkpoint", "--json", "-", *QUICK_WORDS]
    # A Spark whose own file system is another one still takes the folders that we mean.
    words += ["--conf", "spark.hadoop.fs.defaultFS=hdfs://127.0.0.1:1"]
    call = [sys.executable, "-m", "streamjoin.cli.main", "spark", "stream", *map(str, words)]

    def run(*others):
        return subprocess.Popen(
            [*call, *others],
            cwd=tmp_path,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def killed_at(sign, kill):
        with run() as process:
            while process.poll() is None and not (tmp_path / sign).exists():
                time.sleep(0.02)
            assert process.poll() is None, process.communicate()
            kill(process.pid, signal.SIGKILL)

    # Before there is anything in the output but the name of its owner; not even then does another stream get it.
    killed_at("out/_streamjoin.json", os.killpg)
    with run("--seed", "1", "--checkpoint", "other") as process:
        out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert re.fullmatch(r"streamjoin: \S*out belongs to the checkpoint \S*checkpoint, not to \S*other: .*\n", err)
    # Everything at once; then only us, and Java has to notice.
    killed_at("checkpoint/commits/2", os.killpg)
    killed_at("checkpoint/commits/6", os.kill)
    with run() as process:
        out, err = process.communicate()
    assert process.returncode == 1
    summary = json.loads(out)
    assert summary["this_run"]["batches"] < 12

    simulator = build(window=8, span_r=30, span_s=6)
    expected, losses = [], Losses()
    for lane in (0, 1):
        workload = lane_of(Workload(match_rate=0.01, arrivals="random"), lane)
        rows, of_lane = in_batches(simulator, workload, list(range(2000, 24_001, 2000)))
        expected += [(lane, *row) for row in rows]
        losses += of_lane
    found = spark.read.parquet(str(tmp_path / "out")).select("lane", "R", "S", "cycle").collect()
    assert sorted(map(tuple, found)) == sorted(expected)
    assert summary["results"] == len(expected) > 500
    # What was lost is counted once, too, whichever run it was in.
    assert summary["overflows"] == losses.overflows > 0
    assert summary["check"] == {"missing_by_overflow": losses.missing}
    assert err == f"streamjoin: {overflow_sentence(simulator.parameters, losses.missing, losses.rooms)}\n"
