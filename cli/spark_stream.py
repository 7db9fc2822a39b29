"""Run a stream of tuples through a design, in lanes, with results that survive being killed."""

import argparse
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from tqdm import tqdm

from streamjoin.cli import spark_arguments, tuples
from streamjoin.cli import summary as summary_option
from streamjoin.cli.arguments import add_allow_overflows, add_design, read_design, whole
from streamjoin.cli.progress import note
from streamjoin.reference.wording import shown
from streamjoin.sim.run import feed
from streamjoin.sim.run.rooms import needed_windows, overflow_sentence
from streamjoin.sim.run.simulate import Simulator, check_widths, design_verilog
from streamjoin.sim.run.verilate import build_library


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    parser.add_argument("--tuples", type=whole(1), required=True, metavar="N", help="generate so many in each lane")
    tuples.add_generated(parser)
    parser.add_argument("--lanes", type=whole(1), default=1, metavar="L", help="independent inputs (default 1)")
    parser.add_argument(
        "--batch", type=whole(1), default=10_000, metavar="N", help="tuples of a lane in a micro-batch (default 10000)"
    )
    parser.add_argument(
        "--every",
        type=whole(1),
        metavar="SECONDS",
        help="a micro-batch so often, and no more; by default one after the other, until all is read",
    )
    parser.add_argument(
        "--output", type=_folder, required=True, metavar="DIR", help="results as Parquet, for Spark to read"
    )
    parser.add_argument(
        "--checkpoint", type=_folder, required=True, metavar="DIR", help="where the run stands: call again to go on"
    )
    spark_arguments.add_session(parser)
    add_allow_overflows(parser)
    summary_option.add_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    # Spark takes a while to load: no other command should wait for it.
    from streamjoin.spark_driver.claim import claimed, real
    from streamjoin.spark_driver.losses import Losses, losses_of
    from streamjoin.spark_driver.run_identity import identity
    from streamjoin.spark_driver.session import spark_session
    from streamjoin.spark_driver.stream import Lanes, address, run_stream
    from streamjoin.spark_driver.verify import check_parameters

    design, parameters = read_design(arguments)
    check_widths(parameters)
    check_parameters(parameters)
    settings = spark_arguments.settings(arguments)
    summary_option.check(arguments)
    workload = feed.workload(parameters, **tuples.generated(arguments))
    lanes = Lanes(workload, arguments.tuples, arguments.lanes, arguments.batch)
    output, checkpoint = real(arguments.output), real(arguments.checkpoint)
    with note(f"generating {design.name}"):
        verilog = design_verilog(design, parameters)
    with ExitStack() as stack:
        locks = stack.enter_context(claimed(checkpoint, output, identity(verilog, lanes)))
        with note(f"building {design.name}"):
            simulator = Simulator(design, parameters, verilog, build_library(verilog), 0.0)
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="streamjoin-")))
        with note(f"starting Spark on {arguments.master}"):
            spark = stack.enter_context(spark_session(arguments.master, settings, held=locks))
        bar = stack.enter_context(tqdm(total=lanes.total, unit=" tuples", disable=None, leave=False))
        figures = run_stream(
            spark,
            folder,
            simulator,
            lanes,
            output,
            checkpoint,
            every=arguments.every,
            progress=lambda where: _show(bar, where),
        )
        results = spark.read.parquet(address(output)).count()
        losses = Losses() if parameters.spans is None else losses_of(spark, address(checkpoint))
    rate = figures["tuples"] / figures["seconds"]
    summary = {
        "design": design.name,
        "parameters": parameters.as_dict(),
        "lanes": lanes.lanes,
        "tuples": lanes.total,
        "results": results,
        "overflows": losses.overflows,
        "check": {"missing_by_overflow": losses.missing} if losses.missing else "exact",
        "this_run": {**figures, "tuples_per_second": rate},
    }
    done = f"{figures['tuples']} tuples in {figures['batches']} micro-batches, {figures['seconds']:.1f} s"
    words = [
        f"{design.name}: {lanes.total} tuples in {lanes.lanes} lanes, {results} results, every one checked",
        *tuples.nothing_matched(arguments, summary),
        f"  this run: {done} ({rate:,.0f} tuples a second)",
        f"  read the results through Spark: spark.read.parquet({str(arguments.output)!r})",
    ]
    if losses.overflows:
        summary["needed_windows"] = needed_windows(parameters, losses.rooms)
        words.append(f"  {losses.overflows} overflows, {losses.missing} results missing because of them")
    summary_option.tell(arguments, summary, "\n".join(words))
    if not losses.missing:
        return 0
    print(f"streamjoin: {overflow_sentence(parameters, losses.missing, losses.rooms)}", file=sys.stderr)
    return 0 if arguments.allow_overflows else 1


def _folder(text: str) -> Path:
    """A type for folders that are used here and by all workers."""
    if "://" in text:
        raise argparse.ArgumentTypeError(f"must be a folder on a file system that all workers share, not {shown(text)}")
    return Path(text)


def _show(bar: tqdm, where) -> None:
    """The live line: how far, how fast, how late."""
    lag = f", {where.lag_seconds:.1f} s late" if where.lag_seconds else ""
    bar.set_postfix_str(f"batch {where.batch}, {where.tuples_per_second:,.0f} tuples/s{lag}", refresh=False)
    bar.n = where.tuples
    bar.refresh()
