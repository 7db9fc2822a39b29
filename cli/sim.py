"""Simulate a design cycle by cycle and check its result against the reference."""

import argparse
import sys

from tqdm import tqdm

from streamjoin.cli import offered_load, tuples
from streamjoin.cli import summary as summary_option
from streamjoin.cli.arguments import add_allow_overflows, add_design, file_of, read_design, share
from streamjoin.cli.progress import note
from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.run.model import Stalls
from streamjoin.sim.run.simulate import Simulation, Simulator, check_numbering, check_widths
from streamjoin.sim.tuples.tables import write_results
from streamjoin.support.files import InputError, check_writable


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
    design, parameters = read_design(arguments)
    for name in ("input_stalls", "output_stalls"):
        if getattr(arguments, name) == 1:
            raise InputError(f"--{name.replace('_', '-')} must be below 1, or nothing ever moves")
    offered_load.check(arguments)
    check_widths(parameters)
    for path in (arguments.output, arguments.waves):
        if path is not None:
            check_writable(path)
    summary_option.check(arguments)
    arrivals = _arrivals(arguments, parameters)
    offers = offered_load.offers_of(arguments, arrivals)
    with note(f"building {design.name}"):
        simulator = Simulator.build(design, parameters, waves=arguments.waves)
    seed = arguments.seed or 0
    with tqdm(total=len(arrivals), unit=" tuples", disable=None, leave=False) as bar:
        simulation = simulator.run(
            arrivals,
            check=not arguments.no_check,
            offers=offers,
            input_stalls=Stalls(arguments.input_stalls, seed=seed),
            output_stalls=Stalls(arguments.output_stalls, seed=seed + 1),
            waves=arguments.waves,
            progress=lambda accepted: bar.update(accepted - bar.n),
        )
    summary = simulation.summary()
    summary |= offered_load.in_seconds(summary, arguments.clock)
    if arguments.output:
        write_results(
            arguments.output,
            simulation.numbers,
            simulation.key_columns,
            simulation.run.result_cycle,
            parameters.streams,
        )
    summary_option.tell(arguments, summary, _in_words(summary, parameters, tuples.nothing_matched(arguments, summary)))
    return _status(simulation, arguments.allow_overflows)


def _arrivals(arguments: argparse.Namespace, parameters: JoinParameters) -> Arrivals:
    if arguments.input:
        arrivals = tuples.read_file(arguments, parameters, timed=arguments.pace == "time")
        check_numbering(parameters, len(arrivals))
        return arrivals
    check_numbering(parameters, arguments.tuples)  # before they are made, lest they fill the memory
    arrivals = tuples.workload(arguments, parameters).slice(0, arguments.tuples)
    if parameters.spans is not None and len(arrivals) and int(arrivals.time[-1]) >> parameters.time_width:
        raise ParameterError(
            f"time_width={parameters.time_width} is too narrow for {len(arrivals)} generated tuples: raise it"
        )
    return arrivals


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
