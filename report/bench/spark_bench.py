"""``make bench-spark``: what is claimed of the runs on Spark, measured and written to docs/results/spark.

Each section has a record of its own, for some take long; ``--only`` runs one of them.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from streamjoin.report.bench.figures import Figure, write_figures
from streamjoin.report.bench.processor_time import Spent, command, spent_by
from streamjoin.report.bench.spark_alternative import alternative
from streamjoin.report.bench.spark_check import check
from streamjoin.report.bench.spark_kills import kills

RECORDS = Path("docs", "results", "spark")
VOLUME = ("handshake", "-p", "cores=8", "-p", "window=64", "-p", "scan=sequential", "--match-rate", 0.001)
# Enough work for each tuple that ten million of them outweigh the start of Java.
HEAVY = {"cores": 32, "window": 256, "scan": "sequential"}
HEAVY_RATE = 0.001
HEAVY_WORDS = (
    "handshake",
    *(word for name, value in HEAVY.items() for word in ("-p", f"{name}={value}")),
    *("--match-rate", HEAVY_RATE),
)


def volume(folder: Path) -> Iterator[Figure]:
    """A hundred million tuples on two cores, every result checked twice."""
    words = (*VOLUME, "--tuples", 100_000_000, "--master", "local[2]", "--plot", folder / "volume.png")
    summary, spent = spent_by(lambda: command("spark", "verify", *words))
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


def overhead(_: Path) -> Iterator[Figure]:
    """The same segments driven by Spark and by plain processes."""
    tuples, segment = 10_000_000, 1_000_000
    words = (*HEAVY_WORDS, "--tuples", tuples, "--segment", segment)
    job = {"design": "handshake", "parameters": HEAVY, "match_rate": HEAVY_RATE, "tuples": tuples, "segment": segment}
    plain, by_processes = spent_by(lambda: _plain(job))
    summary, by_spark = spent_by(lambda: command("spark", "verify", *words, "--master", "local[2]", "--no-oracle"))
    exact = plain["exact"] and summary["check"] == "exact" and plain["results"] == summary["results"]
    yield Figure("both exact, with the same results", float(exact), "", ">= 1")
    yield from _spent("two plain processes", by_processes)
    yield from _spent("Spark on two cores", by_spark)
    yield Figure("overhead in processor time", 100 * (by_spark.cpu / by_processes.cpu - 1), "%", "<= 15")
    yield Figure("share of the check", summary["check_share"], "", "<= 0.25")


def cores(_: Path) -> Iterator[Figure]:
    """The same segments on one core and on two."""
    words = ("spark", "verify", *HEAVY_WORDS, "--tuples", 4_000_000, "--segment", 250_000, "--no-oracle")
    seconds = {}
    for count in (1, 2):
        seconds[count] = command(*words, "--master", f"local[{count}]")["simulate_seconds"]
        yield Figure(f"segments on {count} cores, on the wall", seconds[count], "s")
    yield Figure("two cores against one", seconds[1] / seconds[2], "times", ">= 1.8")


def _plain(job: dict) -> dict:
    call = [sys.executable, "-m", "streamjoin.report.bench.plain_processes", json.dumps(job)]
    return json.loads(subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True).stdout)


def _spent(what: str, spent: Spent) -> list[Figure]:
    return [Figure(f"{what}, processor time", spent.cpu, "CPU s"), Figure(f"{what}, on the wall", spent.wall, "s")]


SECTIONS: dict[str, tuple[str, Callable[[Path], Iterator[Figure]]]] = {
    "volume": ("A hundred million tuples", volume),
    "overhead": ("Spark against plain processes", overhead),
    "cores": ("Two cores against one", cores),
    "check": ("What the check costs", check),
    "kills": ("A stream killed at random moments", kills),
    "alternative": ("Beside it: Spark's own stream-stream join", alternative),
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
            # Whoever reads times should know how busy the machine was with other things.
            figures = [Figure("processes waiting for a processor before the start", os.getloadavg()[0], "")]
            for figure in run(arguments.output):
                figures.append(figure)
                missed += not figure.holds
                print(f"  {figure}", flush=True)
            command_line = f"make bench-spark ARGS='--only {name}'"
            write_figures({title: figures}, arguments.output, name, command_line, ("pyspark", "pyarrow"))
    print(f"{missed} goals missed" if missed else "all goals hold")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
