"""Simulate a design cycle by cycle and check its result against the reference."""

import argparse
import sys

from tqdm import tqdm

from streamjoin.cli import offered_load, tuples
from streamjoin.cli import summary as summary_option
from streamjoin.cli.arguments import add_allow_overflows, add_design, file_of, read_join, share
from streamjoin.cli.progress import shown_on
from streamjoin.hdl.base.parameters import JoinParameters
from streamjoin.sim.run.simulate import Simulation
from streamjoin.support.files import check_writable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    tuples.add_arguments(parser)
    offered_load.add_arguments(parser)
    stalls = parser.add_argument_group("stalls")
    stalls.add_argument("--input-stalls", type=share, default=0.0, metavar="X", help="share of cycles without input")
    stalls.add_argument("--output-stalls", type=share, default=0.0, metavar="X", help="share of cycles output waits")
    parser.add_argument("--output", type=file_of(".csv", ".parquet"), metavar="FILE", help="write the results")
    parser.add_argument("--no-check", action="store_true", help="do not compare with the reference")
    add_allow_overflows(parser)
    summary_option.add_argument(parser)
    parser.add_argument("--waves", type=file_of(".vcd", ".fst"), metavar="FILE", help="record all signals")


def run(arguments: argparse.Namespace) -> int:
    join = read_join(arguments)
    offered_load.check(arguments)
    tuples.check(arguments)
    if arguments.output is not None:
        check_writable(arguments.output)
    summary_option.check(arguments)
    with tqdm(unit=" tuples", disable=None, leave=False) as bar:
        run = join.simulate(
            arguments.input,
            tuples=arguments.tuples,
            **tuples.generated(arguments),
            rate=arguments.rate,
            pace=arguments.pace,
            check=not arguments.no_check,
            input_stalls=arguments.input_stalls,
            output_stalls=arguments.output_stalls,
            waves=arguments.waves,
            progress=shown_on(bar),
        )
    summary = run.summary()
    summary |= offered_load.in_seconds(summary, arguments.clock)
    if arguments.output:
        run.write(arguments.output)
    nothing = tuples.nothing_matched(arguments, summary)
    summary_option.tell(arguments, summary, _in_words(summary, join.parameters, nothing))
    return _status(run.simulation, arguments.allow_overflows)


def _in_words(summary: dict, parameters: JoinParameters, nothing: list[str]) -> str:
    lines = [
        f"{summary['design']}: {summary['tuples']} tuples, {summary['results']} results, {summary['cycles']} cycles",
        f"  a cycle: {summary['tuples_per_cycle']:.4g} tuples, {summary['results_per_cycle']:.4g} results"
        + (", until the last tuple was taken" if "sojourn_cycles" in summary else ""),
        f"  {summary['stall_cycles']} cycles in which input waited, {summary['halted_cycles']} halted by full queues",
        *offered_load.lines(summary, parameters),
        *nothing,
    ]
    if summary["dropped"] or summary["overflows"]:
        lines.append(f"  {summary['dropped']} tuples dropped, {summary['overflows']} overflows")
    if "lost_intermediates" in summary:
        lines.append(f"  {summary['lost_intermediates']} intermediate results thrown away")
    lines.append(
        f"  built in {summary['build_seconds']:.1f} s, simulated in {summary['sim_seconds']:.2f} s "
        f"({summary['cycles_per_second']:,.0f} cycles a second)"
    )
    lines.append(f"  check: {_verdict(summary['check'])}")
    return "\n".join(lines)


def _verdict(check: str | dict[str, int]) -> str:
    if isinstance(check, str):
        return check
    faults = any(count for kind, count in check.items() if kind != "missing_by_overflow")
    return "differs from the reference" if faults else f"{check['missing_by_overflow']} missing by overflow"


def _status(simulation: Simulation, allow_overflows: bool) -> int:
    difference = simulation.difference
    if difference is None or difference.exact:
        return 0
    streams = ", ".join(simulation.simulator.parameters.streams)
    # Rows of many streams are long.
    rows = difference.describe(limit=3 if len(simulation.simulator.parameters.streams) < 4 else 1)
    print(f"streamjoin: the result differs from the reference, by arrival numbers ({streams}): {rows}", file=sys.stderr)
    if simulation.overflow_sentence:
        print(f"streamjoin: {simulation.overflow_sentence}", file=sys.stderr)
    return 0 if difference.design_is_right and allow_overflows else 1
