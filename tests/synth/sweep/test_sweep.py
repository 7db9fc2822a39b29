"""Sweeps: what they measure, that they go on where they were left, and that one bad point costs no other."""

import os
import signal
import subprocess
import sys
import time

import pytest

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.registry import find
from streamjoin.report.metrics import METRICS
from streamjoin.synth.flow.errors import TargetError
from streamjoin.synth.sweep.grid import expand, read_axis
from streamjoin.synth.sweep.run import Sweep, SweepSettings
from tests.synth.sweep.stand_in import StandIn


def small_sweep(folder, *axes, designs=("handshake",), **settings):
    settings = {"match_rates": (0.0, 0.1), "tuples": 300, **settings}
    grid = expand([find(name) for name in designs], map(read_axis, axes))
    return Sweep(grid, SweepSettings(**settings), folder / "sweep", StandIn(folder / "tool"))


def kept(sweep):
    return {path.name: path.stat().st_mtime_ns for path in sweep.store.folder.iterdir()}


def test_simulations_and_costs_of_two_designs(tmp_path):
    sweep = small_sweep(
        tmp_path, "cores=2", "window=8", designs=("handshake", "nested-loop"), targets=("ecp5-25k",), seeds=3
    )
    told = []
    sweep.run(progress=lambda done, of: told.append((done, of)))
    assert told[0] == (0, 6)
    assert told[-1] == (6, 6)
    handshake, nested_loop = sweep.rows()
    assert [run["match_rate"] for run in handshake["runs"]] == [0.0, 0.1]
    assert all(run["check"] == "exact" for run in handshake["runs"] + nested_loop["runs"])
    busy = handshake["runs"][1]
    assert sum(busy["latency_histogram"]["counts"]) == busy["results"] > 0
    assert len(busy["latency_histogram"]["edges"]) == len(busy["latency_histogram"]["counts"]) + 1
    assert busy["limit"] == min(2, busy["tuples"] / busy["results"])
    assert handshake["cost"]["fmax_mhz"]["seeds"] == {"1": 149.0, "2": 150.0, "3": 151.0}
    assert (handshake["comparisons_per_cycle"], nested_loop["comparisons_per_cycle"]) == (16, 2)
    assert handshake["failures"] == nested_loop["failures"] == []
    # Cycles and clock are of one netlist, and the hash of the Verilog says so.
    assert handshake["cost"]["verilog"] == busy["verilog"] != nested_loop["cost"]["verilog"]
    quiet = handshake["runs"][0]
    assert METRICS["tuples_per_second"].of(handshake) == pytest.approx(150 * quiet["tuples_per_cycle"])

    # Another run has nothing left to do; more match rates add to what is there.
    before = kept(sweep)
    sweep.run()
    assert kept(sweep) == before
    more = small_sweep(tmp_path, "cores=2", "window=8", match_rates=(0.0, 0.1, 1.0))
    more.run()
    assert len(kept(more)) == len(before) + 1
    assert before.items() <= kept(more).items()


def test_every_failure_has_its_sentence_and_the_others_go_on(tmp_path):
    # 3 cores do not fit; 4 miss a tool; 5 kill their process; 6 hang.
    sweep = small_sweep(tmp_path, "cores=2,3,4,5,6", "window=8", targets=("ecp5-25k",), match_rates=())
    sweep.run(processes=3, timeout=8)
    rows = {row["parameters"]["cores"]: row for row in sweep.rows()}
    assert rows[2]["cost"]["luts"] == 2000
    failures = {
        cores: (row["failures"][0]["kind"], row["failures"][0]["sentence"]) for cores, row in rows.items() if cores > 2
    }
    assert failures == {
        3: (
            "does not fit",
            "handshake with 3 cores needs 3000 LUTs, ecp5-25k has 2500: take fewer cores or a larger target",
        ),
        4: ("tool failed", "the tool is missing: install it"),
        5: ("died", "its process was killed, perhaps for want of memory: lower --jobs"),
        6: ("timeout", "not done within 0.133333 minutes: raise --timeout"),
    }
    assert all(row["cost"] is None for cores, row in rows.items() if cores > 2)

    # What may pass is tried again; what does not fit never will.
    (tmp_path / "tool").touch()
    before = kept(sweep)
    sweep = small_sweep(tmp_path, "cores=2,3,4", "window=8", targets=("ecp5-25k",), match_rates=())
    sweep.run()
    rows = {row["parameters"]["cores"]: row for row in sweep.rows()}
    assert rows[4]["cost"]["luts"] == 4000
    assert rows[3]["failures"][0]["kind"] == "does not fit"
    assert len([name for name, when in kept(sweep).items() if before[name] != when]) == 1


def test_a_rate_that_cannot_be_had_and_one_that_is_not_measured_yet(tmp_path):
    sweep = small_sweep(tmp_path, "cores=2", "window=8", "key_width=4", match_rates=(0.001, 0.5))
    assert [failure["kind"] for failure in sweep.rows()[0]["failures"]] == ["not finished"]
    sweep.run()
    (row,) = sweep.rows()
    assert [run["match_rate"] for run in row["runs"]] == [0.5]
    assert row["failures"][0]["kind"] == "cannot be generated"
    assert "widen the key" in row["failures"][0]["sentence"]


#: So many that even on a busy machine some are left when a sweep is stopped.
RUNS = 16


def sweep_and_stop(folder, how):
    """Start a sweep of ``RUNS`` runs, stop it when two are done, and tell what is there and how it ended."""
    rates = ",".join(f"{n / 1000:g}" for n in range(RUNS))
    words = ["sweep", "nested-loop", "-p", "window=64", "--tuples", "40000", "--match-rates", rates, "-o", "out"]
    command = [sys.executable, "-m", "streamjoin.cli.main", *words]
    points = folder / "out" / "points"
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    # A shell that puts the tests in the background has them, and all that they start, ignore interrupts.
    heed = {"start_new_session": True, "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    with subprocess.Popen(command, cwd=folder, **heed, **pipes) as process:
        deadline = time.monotonic() + 120
        while len(list(points.glob("[!.]*.json"))) < 2:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.02)
        os.kill(process.pid, how)
        _, said = process.communicate(timeout=60)
    return command, points, process.returncode, said


def finished(points):
    return {path: path.stat().st_mtime_ns for path in points.glob("[!.]*.json")}


def test_killed_in_the_middle_and_run_again(tmp_path):
    command, points, _, _ = sweep_and_stop(tmp_path, signal.SIGKILL)
    time.sleep(1)  # whoever worked for it is gone by then
    done = finished(points)
    assert 2 <= len(done) < RUNS
    time.sleep(1)
    assert finished(points) == done
    again = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert done.items() < finished(points).items()
    assert len(finished(points)) == RUNS


def test_interrupted_it_reports_what_there_is(tmp_path):
    _, points, status, said = sweep_and_stop(tmp_path, signal.SIGINT)
    assert status == 130
    assert "run the same command to go on" in said
    assert 2 <= len(finished(points)) < RUNS
    assert "not finished" in (tmp_path / "out" / "report.html").read_text()


def test_a_half_written_point_is_measured_again(tmp_path):
    sweep = small_sweep(tmp_path, "cores=2", "window=8", match_rates=(0.1,))
    sweep.run()
    (path,) = sweep.store.folder.iterdir()
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    sweep.run()
    assert path.read_text() == whole


def test_wrong_settings(tmp_path):
    with pytest.raises(TargetError, match="there is no target 'abacus'"):
        small_sweep(tmp_path, "cores=2", "window=8", targets=("abacus",))
    with pytest.raises(ParameterError, match="no combination of these parameters makes a handshake: window_r=8"):
        small_sweep(tmp_path, "cores=9", "window=8")


def test_seeds_may_depend_on_parameters(tmp_path):
    sweep = small_sweep(tmp_path, "cores=2,4", "window=8", targets=("ecp5-25k",), seeds="3-2*(cores//4)")
    assert [job.seeds for job in sweep.jobs()[2:]] == [3, 1]
    with pytest.raises(ParameterError, match=r"makes -1 for .*: it must be at least 1"):
        small_sweep(tmp_path, "cores=2,4", "window=8", seeds="3-cores")
    with pytest.raises(ParameterError, match="--seeds needs cores, which is no number of nested-loop"):
        small_sweep(tmp_path, "window=8", designs=("nested-loop",), seeds="cores")
