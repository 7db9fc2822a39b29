"""``make bench-spark``: what is claimed of the runs on Spark, measured and written to docs/results/spark.

Each section has a record of its own, for some take long; ``--only`` runs one of them.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from streamjoin.report.figures import Figure, write_figures
from streamjoin.report.processor_time import Spent, command, spent_by

RECORDS = Path("docs", "results", "spark")
VOLUME = ("handshake", "-p", "cores=8", "-p", "window=64", "-p", "scan=sequential", "--match-rate", 0.001)


def volume(folder: Path) -> Iterator[Figure]:
    """A hundred million tuples on two cores, every result checked twice."""
    words = (*VOLUME, "--tuples", 100_000_000, "--master", "local[2]", "--plot", folder / "volume.png")
    summary: dict = {}
    spent = spent_by(lambda: summary.update(command("spark", "verify", *words)))
    yield Figure("tuples", summary["tuples"], "tuples", ">= 1e8")
    yield Figure("exact by the reference", float(summary["check"] == "exact"), "", ">= 1")
    yield Figure("exact by Spark SQL", float(summary["oracle"] == "exact"), "", ">= 1")
    yield Figure("results", summary["results"], "results")
    yield Figure("cycles", summary["cycles"], "cycles")
    yield Figure("segments", summary["segments"], "segments")
    yield Figure("retries", summary["retries"], "")
    yield Figure("slowest segment against the median", summary["skew"], "times")
    yield Figure("share of the check in the segments' processor time", summary["check_share"], "", "<= 0.25")
    for name, value in summary["cpu_seconds"].items():
        yield Figure(f"segments: {name}", value, "CPU s")
    yield Figure("segments, on the wall", summary["simulate_seconds"], "s")
    yield Figure("Spark SQL's join, on the wall", summary["oracle_seconds"], "s")
    yield from _spent("the whole command", spent)


def _spent(what: str, spent: Spent) -> list[Figure]:
    return [Figure(f"{what}, processor time", spent.cpu, "CPU s"), Figure(f"{what}, on the wall", spent.wall, "s")]


SECTIONS: dict[str, tuple[str, Callable[[Path], Iterator[Figure]]]] = {
    "volume": ("A hundred million tuples", volume),
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-spark", description=__doc__)
    parser.add_argument("--only", choices=SECTIONS, help="one section")
    parser.add_argument("-o", dest="output", type=Path, default=RECORDS, metavar="DIR")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    missed = 0
    for name, (title, run) in SECTIONS.items():
        if arguments.only in (None, name):
            print(title, flush=True)
            figures = []
            for figure in run(arguments.output):
                figures.append(figure)
                missed += not figure.holds
                print(f"  {figure}", flush=True)
            write_figures({title: figures}, arguments.output, name, f"make bench-spark ARGS='--only {name}'")
    print(f"{missed} goals missed" if missed else "all goals hold")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
