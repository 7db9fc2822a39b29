"""Spark's own stream-stream join on the same tuples: the alternative that a user would pick.

Arrivals alternate, so the i-th tuple of R and the j-th of S belong together if i - j lies in [1 - W, W]. Spark joins by
key and by such a range of event times, here the index in seconds, and drops what the watermark has left behind.
"""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from streamjoin.hdl.registry import find
from streamjoin.report.bench.figures import Figure
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver.session import spark_session
from streamjoin.spark_driver.stream import Lanes, run_stream

_TUPLES, _LANES, _BATCH, _WINDOW = 400_000, 2, 50_000, 64


def alternative(_: Path) -> Iterator[Figure]:
    """Both on the same tuples, one after the other in one session."""
    design = find("handshake")
    simulator = Simulator.build(design, design.parameters(cores=8, window=_WINDOW))
    lanes = Lanes(Workload(match_rate=0.001), _TUPLES, _LANES, _BATCH)
    with tempfile.TemporaryDirectory() as folder, spark_session("local[2]") as spark:
        place = Path(folder)
        ours = run_stream(spark, place, simulator, lanes, place / "ours", place / "ours-checkpoint")["seconds"]
        theirs = _join(spark, lanes, place)
        found, expected = (_pairs(spark, place / name) for name in ("ours", "theirs"))
        same = found.exceptAll(expected).count() + expected.exceptAll(found).count() == 0
        results = found.count()
    yield Figure("tuples, over all lanes", lanes.total, "tuples")
    yield Figure("results", results, "results")
    yield Figure("both gave the same results", float(same), "", ">= 1")
    yield Figure("ours: simulated cycle by cycle and checked", lanes.total / ours, "tuples/s")
    yield Figure("Spark's stream-stream join", lanes.total / theirs, "tuples/s")
    yield Figure("ours against Spark's", theirs / ours, "times")


def _join(spark: SparkSession, lanes: Lanes, place: Path) -> float:
    started = time.perf_counter()
    tuples = lanes.table(spark, ("key",), streaming=True).withColumn("at", fn.timestamp_seconds(fn.expr("seq div 2")))
    r = tuples.where("stream = 0").selectExpr("lane", "seq as R", "key", "at as at_r").withWatermark("at_r", "1 second")
    s = (
        tuples.where("stream = 1")
        .selectExpr("lane as lane_s", "seq as S", "key as key_s", "at as at_s")
        .withWatermark("at_s", "1 second")
    )
    near = f"at_r >= at_s - interval {_WINDOW - 1} seconds and at_r <= at_s + interval {_WINDOW} seconds"
    joined = r.join(s, fn.expr(f"lane = lane_s and key = key_s and {near}")).select("lane", "R", "S", "key")
    query = (
        joined.writeStream.format("parquet")
        .option("path", str(place / "theirs"))
        .option("checkpointLocation", str(place / "theirs-checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return time.perf_counter() - started


def _pairs(spark: SparkSession, path: Path) -> DataFrame:
    return spark.read.parquet(str(path)).select("lane", "R", "S")
