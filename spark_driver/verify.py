"""A whole run on Spark, every result checked: in segments, one simulator a task, and once more by Spark SQL."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from streamjoin.hdl.parameters import JoinParameters, ParameterError
from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.sim.latency import latency_statistics
from streamjoin.sim.simulate import Simulator
from streamjoin.sim.workload import Workload
from streamjoin.spark_driver.checksum import Checksum
from streamjoin.spark_driver.data_source import NAME, TupleSource
from streamjoin.spark_driver.errors import SparkError
from streamjoin.spark_driver.oracle import Oracle
from streamjoin.spark_driver.progress import watched
from streamjoin.spark_driver.segment_task import REPORT, RowsTask, Segmentation, SegmentTask
from streamjoin.spark_driver.shipping import ship_model, ship_package
from streamjoin.spark_driver.sources import Source, ship_arrivals, to_text

_LARGEST = 1_000_000  # tuples of a segment, unless told otherwise
_TASKS_A_CORE = 4  # so that cores finish at about the same time
_LEAST_OF_WARM_UP = 50  # a segment is at least so many times its warm-up
_ORACLE_PARTITION = 1 << 18
_SHOWN = 3

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Verification:
    """What a run on Spark gave.

    Attributes
    ----------
    summary
        All figures, as ``spark verify --json`` shows them.
    wrong
        Sentences on results that are not right, the first of them the earliest in the run.
    failed
        Sentences on what could not be run to its end.
    """

    summary: dict
    wrong: list[str]
    failed: list[str]


def check_parameters(parameters: JoinParameters) -> None:
    """ParameterError where segments cannot be run apart from each other."""
    if parameters.on_full != "stall":
        raise ParameterError("what on_full=drop drops depends on timing, and segments share none: use on_full=stall")


def segmentation_for(tuples: int, parameters: JoinParameters, cores: int, size: int | None = None) -> Segmentation:
    """Segments of ``size`` tuples, or of a size that keeps all cores busy and warm-up small."""
    if size is None:
        least = _LEAST_OF_WARM_UP * sum(parameters.windows)
        size = min(max(-(-tuples // (_TASKS_A_CORE * cores)), least), max(_LARGEST, least))
    return Segmentation(tuples, size)


def verify(
    spark: SparkSession,
    folder: Path,
    simulator: Simulator,
    source: Workload | Arrivals,
    tuples: int,
    *,
    segment: int | None = None,
    timeout: float | None = None,
    oracle: bool = True,
    progress: Progress | None = None,
) -> Verification:
    """Run ``tuples`` arrivals of the source through the simulator, and check every result.

    Parameters
    ----------
    folder : where to put what is shipped to workers
    segment : tuples of a segment
    timeout : seconds that a segment may be simulated
    oracle : whether Spark SQL joins the tuples, too
    progress : called now and then with what is being done, tasks done, and tasks in all
    """
    parameters = simulator.parameters
    check_parameters(parameters)
    started = time.perf_counter()
    segmentation = segmentation_for(tuples, parameters, spark.sparkContext.defaultParallelism, segment)
    ship_package(spark, folder, parameters.predicate)
    model = ship_model(spark, folder, simulator)
    shipped: Source = ship_arrivals(spark, folder, source) if isinstance(source, Arrivals) else source
    task = SegmentTask(model, shipped, segmentation, timeout)
    with watched(spark, progress and (lambda *done: progress("segments", *done))):
        reports = _run(spark, task)
    simulated = time.perf_counter()
    wrong, failed = _sentences(reports, parameters)
    opinion = "skipped"
    if oracle and not wrong and not failed:
        with watched(spark, progress and (lambda *done: progress("Spark SQL", *done))):
            opinion, differing = _second_opinion(spark, task, reports, simulator, bool(parameters.span))
        wrong += differing
    summary = {
        "design": simulator.design.name,
        "parameters": parameters.as_dict(),
        "master": spark.sparkContext.master,
        **_figures(reports),
        "check": _verdict(reports),
        "oracle": opinion,
        "simulate_seconds": simulated - started,
        "oracle_seconds": time.perf_counter() - simulated if opinion != "skipped" else None,
        "seconds": time.perf_counter() - started,
    }
    summary["tuples_per_second"] = summary["tuples"] / summary["simulate_seconds"]
    return Verification(summary, wrong, failed)


def _run(spark: SparkSession, task: SegmentTask) -> list[dict]:
    """The report of each segment; each of them once, whatever happened on the way."""
    count = len(task.segmentation)
    rows = spark.range(0, count, 1, count).mapInArrow(task, REPORT).collect()
    if sorted(row.segment for row in rows) != list(range(count)):
        raise SparkError(f"Spark gave reports of {len(rows)} segments for {count}: run it again")
    return [{"segment": row.segment, **json.loads(row.report)} for row in sorted(rows, key=lambda row: row.segment)]


def _sentences(reports: list[dict], parameters: JoinParameters) -> tuple[list[str], list[str]]:
    wrong, failed = [], []
    for report in reports:
        where = f"segment {report['segment']}"
        if "first" in report:
            where += f" (arrivals {report['first']} to {report['first'] + report['tuples'] - 1})"
        if "error" in report:
            failed.append(f"{where} could not be run: {report['error']}")
        elif "wrong" in report:
            wrong.append(f"{where} misbehaves: {report['wrong']}")
        elif "differs" in report:
            counts = ", ".join(f"{count} {kind}" for kind, count in report["differs"].items())
            offence = report["offence"]
            pair = ", ".join(f"{s} {n}" for s, n in zip(parameters.streams, offence["tuples"], strict=True))
            wrong.append(
                f"{where} differs from the reference: {counts}; first, the result of {pair} is {offence['kind']} "
                f"at cycle {offence['cycle']} of the segment"
            )
    return wrong, failed


def _second_opinion(
    spark: SparkSession, task: SegmentTask, reports: list[dict], simulator: Simulator, timed: bool
) -> tuple[str | dict, list[str]]:
    """What Spark SQL thinks of the results: "exact", or what differs, and sentences on that."""
    parameters, segmentation = simulator.parameters, task.segmentation
    if not segmentation.tuples:
        return "exact", []
    spark.dataSource.register(TupleSource)
    partitions = max(spark.sparkContext.defaultParallelism, segmentation.tuples // _ORACLE_PARTITION)
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    columns = [*parameters.predicate.fields, *(["time"] if timed else [])]
    tuples = (
        spark.read.format(NAME)
        .options(source=to_text(task.source), tuples=segmentation.tuples, columns=",".join(columns))
        .options(partition=_ORACLE_PARTITION)
        .load()
    )
    with Oracle(tuples, parameters.predicate, Windows(parameters.windows, parameters.span)) as oracle:
        theirs = {
            row.segment: Checksum(row.results, row.low, row.high)
            for row in oracle.checksums(segmentation.size).collect()
        }
        differing = [
            report
            for report in reports
            if theirs.get(report["segment"], Checksum(0, 0, 0)) != (report["results"], report["low"], report["high"])
        ]
        if not differing:
            return "exact", []
        first = differing[0]["segment"]
        rows = _rows_apart(spark, task, oracle, first, parameters.streams)
    where = f"segment {first} (arrivals from {segmentation.bounds(first)[0]} on)"
    said = "; ".join(rows) or "but not when it is run again: a worker is not to be trusted"
    sentence = f"{where} and {len(differing) - 1} more differ from Spark SQL's join: {said}"
    return {"differing_segments": len(differing)}, [sentence]


def _rows_apart(
    spark: SparkSession, task: SegmentTask, oracle: Oracle, segment: int, streams: tuple[str, ...]
) -> list[str]:
    """The first results of a segment that ours and theirs have not equally often, in words."""
    columns = ", ".join(f"{stream} bigint" for stream in streams)
    rows_task = RowsTask(task.model, task.source, task.segmentation, task.timeout)
    ours = spark.range(segment, segment + 1, 1, 1).mapInArrow(rows_task, f"{columns}, cycle bigint")
    theirs = oracle.results(task.segmentation.bounds(segment)).toDF("lane", "later", *streams)
    apart = _apart(ours, theirs, streams).orderBy("later", *streams).limit(_SHOWN).collect()
    return [
        f"the result of {', '.join(f'{stream} {row[stream]}' for stream in streams)} is there {row.ours} times"
        f"{'' if row.cycle is None else f' (cycle {row.cycle})'}, by Spark SQL {row.theirs} times"
        for row in apart
    ]


def _apart(ours: DataFrame, theirs: DataFrame, streams: tuple[str, ...]) -> DataFrame:
    one, none = fn.lit(1), fn.lit(0)
    both = ours.select(*streams, "cycle", one.alias("ours"), none.alias("theirs")).unionByName(
        theirs.select(*streams, fn.lit(None).cast("bigint").alias("cycle"), none.alias("ours"), one.alias("theirs"))
    )
    counts = both.groupBy(*streams).agg(
        fn.sum("ours").alias("ours"), fn.sum("theirs").alias("theirs"), fn.min("cycle").alias("cycle")
    )
    return counts.where("ours <> theirs").withColumn("later", fn.greatest(*streams))


def _verdict(reports: list[dict]) -> str | dict:
    kinds = {
        "differing_segments": sum("differs" in report for report in reports),
        "misbehaving_segments": sum("wrong" in report for report in reports),
        "failed_segments": sum("error" in report for report in reports),
    }
    return kinds if any(kinds.values()) else "exact"


def _figures(reports: list[dict]) -> dict:
    """The figures of all segments that came to their end, together."""
    ended = [report for report in reports if "results" in report]
    total = {
        name: sum(report[name] for report in ended)
        for name in ("tuples", "results", "cycles", "warm_up", "overflows", "stall_cycles")
    }
    seconds = [report["seconds"] for report in ended]
    cpu = {name: sum(report["cpu"][name] for report in ended) for name in ("generate", "simulate", "check")}
    return {
        **total,
        "segments": len(reports),
        "tuples_per_cycle": (total["tuples"] + total["warm_up"]) / total["cycles"] if total["cycles"] else None,
        "latency_cycles": _latency(ended),
        "skew": max(seconds) / median(seconds) if seconds else None,
        "retries": sum(report["attempt"] for report in reports),
        "workers": len({report["worker"] for report in reports}),
        "cpu_seconds": cpu,
        "check_share": cpu["check"] / sum(cpu.values()) if ended else None,
        "segment_list": [_line(report) for report in ended],
    }


def _latency(reports: list[dict]) -> dict:
    if not any(report["latency"] for report in reports):
        return latency_statistics(np.array([]))
    latency = np.concatenate([report["latency"] for report in reports]).astype(np.int64)
    frequency = np.concatenate([report["frequency"] for report in reports]).astype(np.int64)
    order = np.argsort(latency)
    latency, reached = latency[order], np.cumsum(frequency[order])

    def percentile(share: float) -> float:
        return float(latency[np.searchsorted(reached, share * reached[-1])])

    return {
        "min": int(latency[0]),
        "mean": float((latency * frequency[order]).sum() / reached[-1]),
        "p50": percentile(0.5),
        "p99": percentile(0.99),
        "max": int(latency[-1]),
    }


def _line(report: dict) -> dict:
    latency = _latency([report])
    kept = ("first", "tuples", "warm_up", "results", "cycles", "seconds", "attempt", "worker")
    return {name: report[name] for name in kept} | {"latency_p50": latency["p50"], "latency_p99": latency["p99"]}
