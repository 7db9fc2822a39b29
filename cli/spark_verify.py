"""Run a design on Spark in segments, one simulator a task, and check every result twice."""

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tqdm import tqdm

from streamjoin.cli import spark_arguments, tuples
from streamjoin.cli import summary as summary_option
from streamjoin.cli.arguments import add_allow_overflows, add_design, file_of, read_design, whole
from streamjoin.cli.offered_load import AT_FULL_LOAD, in_words
from streamjoin.cli.progress import note, shown_on
from streamjoin.sim.run import feed
from streamjoin.sim.run.simulate import Simulator, check_widths
from streamjoin.support.files import check_writable

_SHOWN = 3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    tuples.add_arguments(parser)
    spark_arguments.add_session(parser)
    parser.add_argument("--segment", type=whole(1), metavar="N", help="tuples of a segment (default: as fits)")
    parser.add_argument("--timeout", type=whole(1), metavar="SECONDS", help="give up on a segment after so long")
    parser.add_argument("--no-oracle", action="store_true", help="do not ask Spark SQL for a second opinion")
    parser.add_argument("--plot", type=file_of(".png"), metavar="FILE", help="throughput and latency of each segment")
    add_allow_overflows(parser)
    summary_option.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    # Spark takes a while to load: no other command should wait for it.
    from streamjoin.spark_driver.session import JAVA_AS_SCHEDULER, spark_session
    from streamjoin.spark_driver.verify import check_parameters, verify

    design, parameters = read_design(arguments)
    check_widths(parameters)
    check_parameters(parameters)
    settings = (JAVA_AS_SCHEDULER if arguments.no_oracle else {}) | spark_arguments.settings(arguments)
    tuples.check(arguments)
    summary_option.check(arguments)
    if arguments.plot:
        check_writable(arguments.plot)
    if arguments.input:
        source = feed.read(arguments.input, parameters)
        count = len(source)
    else:
        source, count = feed.workload(parameters, **tuples.generated(arguments)), arguments.tuples
    with note(f"building {design.name}"):
        simulator = Simulator.build(design, parameters)
    with tempfile.TemporaryDirectory(prefix="streamjoin-") as folder, ExitStack() as stack:
        with note(f"starting Spark on {arguments.master}"):
            spark = stack.enter_context(spark_session(arguments.master, settings))
        bar = stack.enter_context(tqdm(desc="segments", unit="task", disable=None, leave=False))
        verification = verify(
            spark,
            Path(folder),
            simulator,
            source,
            count,
            segment=arguments.segment,
            timeout=arguments.timeout,
            oracle=not arguments.no_oracle,
            progress=shown_on(bar),
        )
    summary = verification.summary
    if arguments.plot:
        from streamjoin.report.segment_plots import draw_segments

        draw_segments(summary, arguments.plot)
    summary_option.tell(arguments, summary, _in_words(summary, tuples.nothing_matched(arguments, summary)))
    for sentence in [*verification.wrong, *verification.failed][:_SHOWN]:
        print(f"streamjoin: {sentence}", file=sys.stderr)
    if verification.overflow:
        print(f"streamjoin: {verification.overflow}", file=sys.stderr)
    short = verification.overflow and not arguments.allow_overflows
    return 1 if verification.wrong else 2 if verification.failed else 1 if short else 0


def _in_words(summary: dict, nothing: list[str]) -> str:
    latency, seconds = summary["latency_cycles"], summary["simulate_seconds"]
    counts = ", ".join(f"{summary[name]} {name}" for name in ("tuples", "results", "cycles"))
    skew = f", skew {summary['skew']:.2f}" if summary["skew"] else ""
    where = f"{summary['segments']} segments on {summary['workers']} workers"
    lines = [
        f"{summary['design']} on {summary['master']}: {counts}",
        *nothing,
        f"  {where}, {summary['warm_up']} tuples of warm-up, {summary['retries']} retries{skew}",
    ]
    if latency["min"] is not None:
        lines.append(f"  latency in cycles, from acceptance, {AT_FULL_LOAD}: {in_words(latency)}")
    if summary["overflows"]:
        lines.append(f"  {summary['overflows']} overflows")
    lines.append(f"  simulated and checked in {seconds:.1f} s ({summary['tuples_per_second']:,.0f} tuples a second)")
    if summary["check_share"] is not None:
        lines.append(f"  the check took {summary['check_share']:.1%} of the segments' processor time")
    lines.append(f"  check: {_verdict(summary['check'])}")
    joined = "" if summary["oracle_seconds"] is None else f" ({summary['oracle_seconds']:.1f} s)"
    lines.append(f"  Spark SQL's join: {_verdict(summary['oracle'])}{joined}")
    return "\n".join(lines)


def _verdict(verdict: str | dict) -> str:
    if isinstance(verdict, str):
        return verdict
    return ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in verdict.items())
