"""BI-Sort with PanJoin's subwindow of 8 M tuples, 64 K partitions and batches of 32 K.

R's subwindow is filled batch by batch, which takes most of the time; then batches of S probe it. One that is filled
less costs as much less to merge and to probe, as does a nested loop.
"""

import time
from functools import partial
from pathlib import Path

import numpy as np

from streamjoin.report.bench.bisort_bench import UNLIMITED, parameters_of, simulator, steps
from streamjoin.report.bench.figures import Figure

SUBWINDOW, PARTITIONS, BATCH = 1 << 23, 1 << 16, 1 << 15
UNITS = {"mergers": 8, "probers": 4}
PROBES = 3


def measure(_: Path, *, fill: int) -> list[Figure]:
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
    started, processor_started = time.perf_counter(), time.process_time()
    found = steps(simulated, stream, rng.integers(0, 1 << 32, len(stream)))[0]
    seconds, processor_seconds = time.perf_counter() - started, time.process_time() - processor_started
    # The end of a step is told when probing is over: R's are told before they have merged, S's when they have probed.
    merging = found[-PROBES - 1].cycles / BATCH
    probing = found[-1].cycles / BATCH
    cycles = sum(step.cycles for step in found)
    comparators = parameters_of(simulated).comparisons_per_cycle
    nested_loop = fill / comparators
    return [
        Figure("tuples in the subwindow", fill, "tuples"),
        Figure(f"nested loop with {comparators} comparators: cycles a tuple", nested_loop, "cycles"),
        Figure("merging a batch: cycles a tuple", merging, "cycles"),
        Figure("probing with a batch: cycles a tuple", probing, "cycles"),
        Figure("nested loop against the slower of both", nested_loop / max(merging, probing), "times", ">= 1000"),
        Figure("cycles of all steps", cycles, "cycles"),
        Figure("simulation", seconds / 60, "minutes"),
        Figure("of which the processor worked on it", processor_seconds / 60, "minutes"),
        Figure("simulated in a second of the processor", cycles / processor_seconds, "cycles"),
    ]


SECTIONS = {f"Filled to {fill >> 20} M tuples": partial(measure, fill=fill) for fill in (1 << 20, 1 << 22, SUBWINDOW)}
