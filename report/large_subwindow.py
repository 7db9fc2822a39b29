"""``make bench-bisort-large``: BI-Sort with paper 003's subwindow of 8 M tuples, 64 K partitions and batches of 32 K.

R's subwindow is filled batch by batch, which takes most of the time; then batches of S probe it. ``--fill`` looks at a
subwindow that is filled less: merging and probing cost as much less, a nested loop, too.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from streamjoin.report.bisort_benchmark import RECORDS, UNLIMITED, simulator, steps
from streamjoin.report.figures import Figure, write_figures

SUBWINDOW, PARTITIONS, BATCH = 1 << 23, 1 << 16, 1 << 15
UNITS = {"mergers": 8, "probers": 4}
PROBES = 3


def measure(fill: int) -> list[Figure]:
    """Cycles a tuple of the last merge and of the last probe, beside a nested loop with as many comparators."""
    simulated = simulator(
        window=SUBWINDOW,
        subwindow=SUBWINDOW,
        partitions=PARTITIONS,
        batch=BATCH,
        predicate="equi",
        **UNITS,
        **UNLIMITED,
    )
    rng = np.random.default_rng(1)
    stream = np.repeat([0, 1], [fill, PROBES * BATCH])
    started = time.perf_counter()
    found, _ = steps(simulated, stream, rng.integers(0, 1 << 32, len(stream)))
    seconds = time.perf_counter() - started
    # The end of a step is told when probing is over: R's are told before they have merged, S's when they have probed.
    merging = found[-PROBES - 1].cycles / BATCH
    probing = found[-1].cycles / BATCH
    comparators = simulated.parameters.comparisons_per_cycle
    nested_loop = fill / comparators
    return [
        Figure("tuples in the subwindow", fill, "tuples"),
        Figure(f"nested loop with {comparators} comparators: cycles a tuple", nested_loop, "cycles"),
        Figure("merging a batch: cycles a tuple", merging, "cycles"),
        Figure("probing with a batch: cycles a tuple", probing, "cycles"),
        Figure("nested loop against the slower of both", nested_loop / max(merging, probing), "times", ">= 1000"),
        Figure("cycles of all steps", sum(step.cycles for step in found), "cycles"),
        Figure("simulation", seconds / 60, "minutes"),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench-bisort-large", description=__doc__)
    parser.add_argument("--record", action="store_true", help="keep the figures under docs/results")
    parser.add_argument("--fill", type=int, default=SUBWINDOW, help="tuples of R before S probes (default: all)")
    arguments = parser.parse_args()
    figures = measure(arguments.fill)
    for figure in figures:
        print(f"  {figure}")
    folder = RECORDS if arguments.record else Path("build", "bench")
    folder.mkdir(parents=True, exist_ok=True)
    command = "make bench-bisort-large" + (f' ARGS="--fill {arguments.fill}"' if arguments.fill != SUBWINDOW else "")
    write_figures({"A subwindow of 8 M tuples": figures}, folder, "bisort-large", command)
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
