"""A stream killed at random moments, and whether its results are those of one that was left alone."""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Windows
from streamjoin.report.bench.figures import Figure
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver.oracle import Oracle
from streamjoin.spark_driver.session import JAVA_AS_SCHEDULER, spark_session
from streamjoin.spark_driver.stream import Lanes

_TUPLES, _LANES, _BATCH, _RATE, _WINDOW = 600_000, 2, 5_000, 0.01, 8
_EARLY_SECONDS, _LATE_SECONDS = 20, 8
# However fast the machine, a stream that is to be killed has not ended by then: it takes two minutes.
_PACE = ("--every", 1)


def kills(_: Path, count: int = 10) -> Iterator[Figure]:
    """Kill a stream ``count`` times, let it end, and compare its output, read through Spark, with Spark SQL's join."""
    draw = random.Random(1)
    with tempfile.TemporaryDirectory() as place:
        commits = Path(place, "checkpoint", "commits")
        reached = []
        for number in range(count):
            everything = draw.random() < 0.5
            with _start(place, *_PACE) as process:
                if number % 2:  # anywhere in a start
                    _wait(process, draw.uniform(0, _EARLY_SECONDS))
                else:  # in the midst of the work
                    before = _last(commits)
                    while process.poll() is None and _last(commits) == before:
                        time.sleep(0.05)
                    _wait(process, draw.uniform(0, _LATE_SECONDS))
                if process.poll() is None:
                    (os.killpg if everything else os.kill)(process.pid, signal.SIGKILL)
                    reached.append(_last(commits))
        with _start(place) as process:
            ended = process.wait() == 0
        yield Figure("kills", len(reached), "", f">= {count}")
        yield Figure("kills before a run had finished a micro-batch", len(reached) - len(set(reached)), "")
        yield Figure("micro-batches in all", _last(commits) + 1, "")
        yield Figure("the last run came to its end", float(ended), "", ">= 1")
        yield from _compared(Path(place, "output"))


def _start(place: str, *more: object) -> subprocess.Popen:
    words = ["handshake", "-p", "cores=2", "-p", f"window={_WINDOW}", "--match-rate", _RATE, "--tuples", _TUPLES]
    words += ["--lanes", _LANES, "--batch", _BATCH, "--master", "local[2]", "--output", "output"]
    words += ["--checkpoint", "checkpoint", "--json", "summary.json", *more]
    for name, value in JAVA_AS_SCHEDULER.items():
        words += ["--conf", f"{name}={value}"]
    call = [sys.executable, "-m", "streamjoin.cli.main", "spark", "stream", *map(str, words)]
    return subprocess.Popen(call, cwd=place, stdout=subprocess.DEVNULL, start_new_session=True)


def _wait(process: subprocess.Popen, seconds: float) -> None:
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


def _last(commits: Path) -> int:
    """The number of the last micro-batch that is whole, or -1."""
    return max((int(path.name) for path in commits.glob("[0-9]*")), default=-1)


def _compared(output: Path) -> Iterator[Figure]:
    parameters = find("handshake").parameters(cores=2, window=_WINDOW)
    lanes = Lanes(Workload(match_rate=_RATE), _TUPLES, _LANES, _BATCH)
    with spark_session("local[2]", {"spark.sql.shuffle.partitions": "4"}) as spark:
        ours = spark.read.parquet(str(output)).select("lane", "R", "S")
        table = lanes.table(spark, ("key",), streaming=False)
        with Oracle(table, parameters.predicate, Windows(parameters.windows)) as oracle:
            theirs = oracle.results().select("lane", "n0", "n1")
            yield Figure("results", ours.count(), "results")
            yield Figure("results lost", theirs.exceptAll(ours).count(), "results", "<= 0")
            yield Figure("results that are there twice, or should not be", ours.exceptAll(theirs).count(), "", "<= 0")
