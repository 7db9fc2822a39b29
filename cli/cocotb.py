"""Run the cocotb benches on a design with these parameters."""

import argparse
import sys

from streamjoin.cli.arguments import add_design, file_of, read_design, whole
from streamjoin.cli.progress import note
from streamjoin.sim.run.bench_suite import run_design_benches
from streamjoin.sim.run.cocotb_runner import SIMULATORS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    parser.add_argument("--simulator", choices=SIMULATORS, default=SIMULATORS[0])
    parser.add_argument("--waves", type=file_of(".vcd", ".fst"), metavar="FILE", help="record all signals")
    parser.add_argument(
        "--seed", type=whole(0), default=1, metavar="K", help="other seeds give other cases (default 1)"
    )


def run(arguments: argparse.Namespace) -> int:
    design, parameters = read_design(arguments)
    with note(f"building {design.name} and running its benches"):
        report = run_design_benches(design, parameters, arguments.simulator, arguments.waves, arguments.seed)
    print(f"{design.name} on {arguments.simulator}: {report.passed} tests passed, {report.failed} failed")
    if report.failures:
        print(f"streamjoin: failed: {', '.join(report.failures)}; see {report.log}", file=sys.stderr)
        return 1
    return 0
