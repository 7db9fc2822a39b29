"""Runs on Spark end right, or say exactly what is wrong."""

import dataclasses
import os
import signal
import sys

import numpy as np
import pytest
from pyspark import cloudpickle

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Arrivals, Windows, concatenate
from streamjoin.reference.join import count_overflows
from streamjoin.reference.overflow import lost_results
from streamjoin.reference.overflow import needed_rooms as reference_rooms
from streamjoin.reference.predicates import Predicate
from streamjoin.reference.vectorised import window_join_array
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver import second_opinion, segment_task, shipping
from streamjoin.spark_driver import verify as module
from streamjoin.spark_driver.checksum import checksum
from streamjoin.spark_driver.oracle import Oracle
from streamjoin.spark_driver.run_figures import needed_rooms
from streamjoin.spark_driver.segment_task import Segmentation, run_segment
from streamjoin.spark_driver.verify import segmentation_for, verify


def simulator(name="handshake", **given):
    design = find(name)
    return Simulator.build(design, design.parameters(**given))


def test_a_run_in_segments_is_the_whole_join(small):
    """What the tasks report, without Spark: counts and checksums add up to those of the whole."""
    workload, segmentation = Workload(seed=3, match_rate=0.05, arrivals="bursty"), Segmentation(1000, 130)
    reports = [run_segment(small, workload, *segmentation.bounds(n)) for n in range(len(segmentation))]
    expected = window_join_array(workload.slice(0, 1000), small.parameters.predicate, Windows((8, 4)))
    assert tuple(sum(report[name] for report in reports) for name in ("results", "low", "high")) == checksum(expected)
    assert sum(report["tuples"] for report in reports) == 1000
    assert not any({"wrong", "error", "differs"} & set(report) for report in reports)


def test_losses_in_segments_are_those_of_the_whole():
    """A room far too small for its spans, and segments shorter than them."""
    design = simulator("llhj", cores=2, window=8, span_r=20, span_s=9, predicate="band2:3,9")
    p = design.parameters
    workload = Workload(seed=5, match_rate=0.1, predicate=p.predicate, tuples_per_tick=4, arrivals="bursty")
    whole, windows = workload.slice(0, 600), Windows(p.windows, p.spans)
    for size in (17, 250):
        segmentation = Segmentation(600, size)
        reports = [run_segment(design, workload, *segmentation.bounds(n)) for n in range(len(segmentation))]
        total = {name: sum(report[name] for report in reports) for name in ("overflows", "missing_by_overflow")}
        expected = window_join_array(whole, p.predicate, windows)
        sums = tuple(sum(report[name] for report in reports) for name in ("results", "low", "high"))
        assert sums == checksum(expected)
        assert total["overflows"] == count_overflows(whole, windows)
        roomy = window_join_array(whole, p.predicate, windows.with_room_for(whole))
        assert total["missing_by_overflow"] == len(roomy) - len(expected) > 500
        assert needed_rooms(reports) == reference_rooms(whole, windows)


def test_a_million_tuples(spark, tmp_path):
    seen = []
    workload = Workload(seed=1, match_rate=0.002, keys="zipf", arrivals="random")
    outcome = verify(
        spark,
        tmp_path,
        simulator(cores=4, window=32),
        workload,
        1_000_000,
        segment=300_000,
        progress=lambda what, done, of: seen.append((what, done, of)),
    )
    summary = outcome.summary
    assert (outcome.wrong, outcome.failed) == ([], [])
    assert (summary["check"], summary["oracle"]) == ("exact", "exact")
    assert (summary["tuples"], summary["segments"], summary["retries"]) == (1_000_000, 4, 0)
    assert summary["results"] == len(
        window_join_array(workload.slice(0, 1_000_000), workload.predicate, Windows((32, 32)))
    )
    assert sum(segment["tuples"] for segment in summary["segment_list"]) == 1_000_000
    assert summary["latency_cycles"]["min"] <= summary["latency_cycles"]["p50"] <= summary["latency_cycles"]["max"]
    assert {what for what, _, _ in seen} == {"segments", "Spark SQL"}
    assert all(done <= of for _, done, of in seen)


def test_tuples_of_a_file_with_times_and_two_keys(spark, tmp_path):
    workload = Workload(seed=2, predicate=find("llhj").parameters(predicate="band2:3,9").predicate, match_rate=0.05)
    # Far beyond what a timestamp can say: only differences matter.
    whole = workload.slice(0, 3000)
    late = dataclasses.replace(whole, time=whole.time + 2**40)
    design = simulator("llhj", cores=2, window=8, span_r=20, span_s=9, predicate="band2:3,9")
    outcome = verify(spark, tmp_path, design, late, len(late), segment=1000)
    assert (outcome.wrong, outcome.failed, outcome.summary["oracle"]) == ([], [], "exact")
    assert outcome.summary["results"] > 100
    windows = Windows((8, 8), (20, 9))
    assert outcome.summary["overflows"] == count_overflows(whole, windows) > 0
    missing = sum(map(len, lost_results(whole, workload.predicate, windows)))
    assert outcome.summary["missing_by_overflow"] == outcome.summary["check"]["missing_by_overflow"] == missing > 0
    assert outcome.overflow.startswith(
        f"{missing} results are missing by overflow: this input needs window_r=11, not 8 "
    )


def test_no_tuples(spark, tmp_path, small):
    outcome = verify(spark, tmp_path, small, Workload(), 0)
    assert (outcome.summary["tuples"], outcome.summary["check"], outcome.summary["oracle"]) == (0, "exact", "exact")


def test_a_skewed_input_is_right_and_the_skew_is_seen(spark, tmp_path, small):
    """One segment in ten has nothing but matches, and so takes many times as long."""
    quiet = Workload(seed=1, match_rate=0).slice(0, 30_000)
    busy = Arrivals(stream=np.arange(30_000) % 2, key=np.zeros(30_000, np.int64))
    parts = [Arrivals(part.stream, part.key) for part in (quiet, busy, *[quiet] * 8)]
    outcome = verify(spark, tmp_path, small, concatenate(parts), 300_000, segment=30_000)
    assert (outcome.wrong, outcome.failed, outcome.summary["oracle"]) == ([], [], "exact")
    assert outcome.summary["skew"] > 2
    *others, slowest = sorted(outcome.summary["segment_list"], key=lambda segment: segment["cycles"])
    assert slowest["first"] == 30_000
    assert slowest["cycles"] > 10 * others[-1]["cycles"]


LIAR = """\
from amaranth.hdl import Value
def holds(r, s):
    return (r.key == s.key) & (r.key != 7) if isinstance(r.key, Value) else r.key == s.key
"""


@pytest.mark.parametrize("who", ["gates", "spark"])
def test_a_result_that_differs_is_named(spark, tmp_path, monkeypatch, who):
    """One of those that a predicate is written for takes it for another."""
    predicate = "equi"
    if who == "gates":
        predicate = "verify_liar:holds"
        (tmp_path / "verify_liar.py").write_text(LIAR)
        monkeypatch.syspath_prepend(tmp_path)
    else:
        other = Predicate("other", lambda r, s: (r.key == s.key) & (r.key != 7))
        monkeypatch.setattr(second_opinion, "Oracle", lambda tuples, _, *rest: Oracle(tuples, other, *rest))
    key = np.arange(400) // 2 + 1000
    key[250:252] = 7
    arrivals = Arrivals(stream=np.arange(400) % 2, key=key)
    design = simulator(cores=2, window=4, predicate=predicate)
    outcome = verify(spark, tmp_path, design, arrivals, 400, segment=100)
    (sentence,) = outcome.wrong
    if who == "gates":
        assert sentence.startswith(
            "segment 2 (arrivals 200 to 299) differs from the reference: 1 missing, 0 extra, 0 repeated; "
            "first, the result of R 250, S 251 is missing at cycle "
        )
        assert outcome.summary["check"]["differing_segments"] == 1
        assert outcome.summary["oracle"] == "skipped"
    else:
        assert outcome.summary["check"] == "exact"
        assert outcome.summary["oracle"] == {"differing_segments": 1}
        assert "segment 2 (arrivals from 200 on) and 0 more differ from Spark SQL's join" in sentence
        assert "the result of R 250, S 251 is there 1 times (cycle" in sentence
        assert "by Spark SQL 0 times" in sentence
    sys.modules.pop("verify_liar", None)


def test_a_model_that_takes_too_long(spark, tmp_path):
    slow = simulator("nested-loop", window=512)
    outcome = verify(spark, tmp_path, slow, Workload(), 60_000, segment=60_000, timeout=0.05)
    (sentence,) = outcome.failed
    assert "segment 0 (arrivals 0 to 59999) could not be run: " in sentence
    assert "tuples were taken in 0.05 s, then time was up" in sentence
    assert outcome.summary["check"] == {
        "differing_segments": 0,
        "misbehaving_segments": 0,
        "failed_segments": 1,
        "missing_by_overflow": 0,
    }
    assert outcome.wrong == []


def test_a_design_that_gets_stuck(small, monkeypatch):
    monkeypatch.setattr(type(small.parameters), "patience", 1)
    report = run_segment(small, Workload(match_rate=0), 0, 100)
    assert "the design is stuck at cycle" in report["wrong"]
    wrong, failed = module._sentences([{"segment": 3, **report}], small.parameters)
    assert wrong[0].startswith("segment 3 (arrivals 0 to 99) misbehaves: the design is stuck")
    assert failed == []


class KilledOnce(segment_task.SegmentTask):
    """A task whose worker dies at the first attempt, after it has done its work."""

    def __call__(self, batches):
        for batch in super().__call__(batches):
            if segment_task.TaskContext.get().attemptNumber() == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            yield batch


def test_a_task_that_is_tried_again_counts_once(spark, tmp_path, small, monkeypatch):
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers do not have the tests
    monkeypatch.setattr(module, "SegmentTask", KilledOnce)
    outcome = verify(spark, tmp_path, small, Workload(match_rate=0.01), 4000, segment=2000)
    assert (outcome.wrong, outcome.failed, outcome.summary["oracle"]) == ([], [], "exact")
    assert outcome.summary["retries"] == 2
    assert outcome.summary["tuples"] == 4000


def test_a_worker_of_another_architecture_builds_its_own(spark, tmp_path, small, monkeypatch):
    sent = shipping.ship_model(spark, tmp_path, small)
    foreign = dataclasses.replace(sent, machine="Linux z80")
    rebuilt = foreign.simulator()
    assert rebuilt.library.path.name == "model.so"
    assert rebuilt.run(Workload(match_rate=0.1).slice(0, 100)).exact
    damaged = dataclasses.replace(sent, digest="0" * 64)
    assert damaged.simulator().library.path == rebuilt.library.path
    assert sent.simulator().library.path.name == sent.library
    monkeypatch.setenv("CXX", "no-such-compiler")
    other = dataclasses.replace(foreign, machine="Linux vax")
    task = segment_task.SegmentTask(other, Workload(), Segmentation(10, 10))
    assert "cannot be compiled on" in task._report(0)["error"]
    assert "no-such-compiler was not found" in task._report(0)["error"]


def test_segments_fit_the_run(small):
    parameters = small.parameters
    assert segmentation_for(1_000_000, parameters, 2).size == 125_000
    assert segmentation_for(10**9, parameters, 2).size == 1_000_000
    assert segmentation_for(1000, parameters, 8).size == 600
    assert segmentation_for(1000, parameters, 8, size=7).size == 7
    assert len(Segmentation(0, 10)) == 1


def test_drops_cannot_be_cut_into_segments(small):
    with pytest.raises(ParameterError, match="use on_full=stall"):
        module.check_parameters(dataclasses.replace(small.parameters, on_full="drop"))


def test_records_cannot_be_cut_into_segments():
    """They round windows up to what is stored: another cut stands for other pairs, and none of them is the join."""
    parameters = find("bisort").parameters
    with pytest.raises(ParameterError, match=r"this gives records, which stand for .*: take output=pairs"):
        module.check_parameters(parameters(window=16, output="records"))
    module.check_parameters(parameters(window=16))
