"""``make simulators``: every preset at full size in a four-state, event-driven simulator, as Verilog and SystemVerilog.

What small parameters show in the tests is shown here once for the sizes that people build; ``--record`` keeps it under
docs/results. Windows of thousands of tuples do not fill, for an event-driven simulator takes its time: what is shown is
that nothing is undefined, that nothing hangs, and that results are the reference's.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import numpy as np
from tqdm import tqdm

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.registry import DESIGNS
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.run.model import Stalls
from streamjoin.sim.run.simulate import Simulator, design_verilog
from streamjoin.support.toolchain import demand, run_tool
from tests.sim import four_state

RULES = {"2005": "Verilog-2005", "2012": "SystemVerilog-2012"}
RECORD = Path("docs/results/simulators.md")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulators", description=__doc__)
    parser.add_argument("--tuples", type=int, default=120, help="that go through each preset (default 120)")
    parser.add_argument("--designs", nargs="+", choices=DESIGNS, default=list(DESIGNS), help="which (default: all)")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD}")
    arguments = parser.parse_args()
    demand("iverilog", "iverilog")
    lines = []
    presets = [(DESIGNS[name], preset) for name in arguments.designs for preset in DESIGNS[name].presets]
    for design, preset in tqdm(presets, unit=" presets", disable=None):
        for line in run_preset(design, preset, arguments.tuples):
            print(line, flush=True)
            lines.append(line)
    if arguments.record:
        release = run_tool(["iverilog", "-V"]).partition(" (")[0]
        RECORD.write_text(
            f"# Presets at full size in four states: run on {date.today()}\n\n"
            f"`make simulators ARGS=--record`: {release}, {arguments.tuples} tuples, a third of all cycles without "
            "input, a third in which the output waits, after a reset of one cycle in mid-run.\n\n"
            "| design | preset | rules | tuples | results | cycles | seconds | check |\n"
            "|---|---|---|---|---|---|---|---|\n" + "".join(f"{line}\n" for line in lines)
        )
    return 0 if all(line.endswith("| exact |") for line in lines) else 1


def run_preset(design: Design, preset: str, tuples: int) -> Iterator[str]:
    """A row of the record for each language."""
    parameters = design.parameters(**dict(design.presets[preset]))
    verilog = design_verilog(design, parameters)
    rng = np.random.default_rng(0)
    streams = len(parameters.streams)
    keys = rng.integers(1 << 32, size=2 * streams)  # few enough to match, and of many streams not too often
    arrivals = Arrivals(stream=rng.integers(streams, size=tuples), key=rng.choice(keys, tuples))
    for year, rules in RULES.items():
        started = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            program = four_state.compile_design(verilog, Path(folder), year)
            simulation = four_state.run(
                Simulator(design, parameters, verilog, program, 0.0),
                arrivals,
                input_stalls=Stalls(0.33, seed=1),
                output_stalls=Stalls(0.33, seed=2),
                reset_at=100,
                reset_cycles=1,
            )
        seconds = time.perf_counter() - started
        yield (
            f"| {design.name} | {preset} | {rules} | {tuples} | {len(simulation.numbers)} | {simulation.run.cycles} | "
            f"{seconds:.0f} | {simulation.difference.describe()} |"
        )


if __name__ == "__main__":
    sys.exit(main())
