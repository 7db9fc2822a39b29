"""A whole run on Spark, every result checked: in segments, one simulator a task, and once more by Spark SQL."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.sql import SparkSession

from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.run.rooms import needed_windows, overflow_sentence
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver.errors import SparkError
from streamjoin.spark_driver.progress import watched
from streamjoin.spark_driver.run_figures import figures, needed_rooms, verdict
from streamjoin.spark_driver.second_opinion import second_opinion
from streamjoin.spark_driver.segment_task import REPORT, Segmentation, SegmentTask
from streamjoin.spark_driver.shipping import ship_model, ship_package
from streamjoin.spark_driver.sources import Source, ship_arrivals

_LARGEST = 1_000_000  # tuples of a segment, unless told otherwise
_TASKS_A_CORE = 4  # so that cores finish at about the same time
_LEAST_OF_WARM_UP = 50  # a segment is at least so many times its warm-up

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
    overflow
        A sentence on results that are missing by overflow, if there are any.
    """

    summary: dict
    wrong: list[str]
    failed: list[str]
    overflow: str | None = None


def check_parameters(parameters: JoinParameters) -> None:
    """ParameterError where segments cannot be run apart from each other."""
    if parameters.on_full != "stall":
        raise ParameterError("what on_full=drop drops depends on timing, and segments share none: use on_full=stall")
    if parameters.output_meaning.instead:
        raise ParameterError(
            f"segments add up to the join of pairs, and this gives {parameters.output_meaning.instead}, "
            "or check it in one run with streamjoin sim"
        )


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
    ship_package(spark, folder, simulator.design, parameters.predicate)
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
            opinion, differing = second_opinion(spark, task, reports, parameters)
        wrong += differing
    summary = {
        "design": simulator.design.name,
        "parameters": parameters.as_dict(),
        "master": spark.sparkContext.master,
        **figures(reports),
        "check": verdict(reports),
        "oracle": opinion,
        "simulate_seconds": simulated - started,
        "oracle_seconds": time.perf_counter() - simulated if opinion != "skipped" else None,
        "seconds": time.perf_counter() - started,
    }
    summary["tuples_per_second"] = summary["tuples"] / summary["simulate_seconds"]
    overflow = None
    if summary["overflows"]:
        rooms = needed_rooms(reports) or ()
        summary["needed_windows"] = needed_windows(parameters, rooms)
        if missing := summary["missing_by_overflow"]:
            overflow = overflow_sentence(parameters, missing, rooms)
    return Verification(summary, wrong, failed, overflow)


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
