"""What a task does: one segment of a run through one simulator, checked where it arises.

The outcome is one row for Spark: the segment's number, and its report as JSON. A design that gives a wrong result, that
gets stuck or that takes too long is an outcome as well: no other attempt would end otherwise, so Spark is not to make
one. Only what befalls a worker (a process killed, a machine lost) makes the task fail, and Spark tries it anew.
"""

import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.reference.arrivals import Windows
from streamjoin.reference.errors import DesignError
from streamjoin.reference.segments import Segment
from streamjoin.sim.run.simulate import Simulation, Simulator
from streamjoin.spark_driver.checksum import checksum
from streamjoin.spark_driver.segments import cut_segment, own_results
from streamjoin.spark_driver.shipping import ShippedModel
from streamjoin.spark_driver.sources import Source
from streamjoin.support.toolchain import ToolError

REPORT = "segment bigint, report string"


@dataclass(frozen=True)
class Segmentation:
    """A run of ``tuples`` arrivals cut into segments of ``size``, the last one perhaps shorter."""

    tuples: int
    size: int

    def __len__(self) -> int:
        return max(1, ceil(self.tuples / self.size))

    def bounds(self, segment: int) -> tuple[int, int]:
        return segment * self.size, min((segment + 1) * self.size, self.tuples)


@dataclass(frozen=True)
class SegmentTask:
    """Called by Spark with the numbers of segments; gives their reports.

    Parameters
    ----------
    timeout : seconds that a segment may be simulated; None for as long as it takes
    """

    model: ShippedModel
    source: Source
    segmentation: Segmentation
    timeout: float | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                report = json.dumps(self._report(number) | _whereabouts())
                yield pa.RecordBatch.from_pydict({"segment": [number], "report": [report]})

    def _report(self, number: int) -> dict:
        try:
            simulator = self.model.simulator()
        except ToolError as error:
            return {"error": f"the model cannot be compiled on {platform.node()}: {error}"}
        return run_segment(simulator, self.source, *self.segmentation.bounds(number), self.timeout)


@dataclass(frozen=True)
class RowsTask(SegmentTask):
    """The same, but it gives the results themselves, with the cycles in which they left: a column a stream."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        simulator = self.model.simulator()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                segment = cut_segment(simulator.parameters, self.source, *self.segmentation.bounds(number))
                results = own_results(simulator.run(segment.arrivals, check=False), segment)
                columns = dict(zip(simulator.parameters.streams, results.numbers.T, strict=True))
                yield pa.RecordBatch.from_pydict({**columns, "cycle": results.cycle})


def run_segment(simulator: Simulator, source: Source, first: int, last: int, timeout: float | None = None) -> dict:
    """Arrivals [first, last) through the simulator, with the warm-up they need, and checked; figures of all that.

    ``error`` is there if it could not be done, ``wrong`` if the design misbehaved, ``differs`` and ``offence`` if its
    results are not those of the reference; ``needed`` is the room for each stream, where windows are time-based.
    """
    report = {"first": first, "tuples": last - first}
    watch = _Watch()
    try:
        segment = cut_segment(simulator.parameters, source, first, last)
        watch.lap("generate")
        simulation = simulator.run(segment.arrivals, check=False, progress=_limit(timeout))
        watch.lap("simulate")
        simulation = simulation.checked(segment.warm_up)
        results = own_results(simulation, segment)
        count, low, high = checksum(results.numbers)
        watch.lap("check")
    except DesignError as error:
        return report | {"wrong": str(error)}
    except (TimeoutError, ParameterError) as error:
        return report | {"error": str(error)}
    latency, frequency = np.unique(results.latency, return_counts=True)
    report |= {
        "warm_up": segment.warm_up,
        "results": count,
        "low": low,
        "high": high,
        "cycles": simulation.run.cycles,
        "stall_cycles": simulation.run.stall_cycles,
        "overflows": segment.overflows(Windows(simulator.parameters.windows, simulator.parameters.spans)),
        "missing_by_overflow": simulation.known_difference.missing_by_overflow,
        "latency": latency.tolist(),
        "frequency": frequency.tolist(),
        "cpu": watch.cpu,
        "seconds": watch.seconds,
    }
    if simulator.parameters.spans is not None:
        report["needed"] = simulation.needed_rooms
    if simulation.known_difference.design_is_right:
        return report
    return report | {"differs": simulation.known_difference.faults, "offence": _first_offence(simulation, segment)}


def _first_offence(simulation: Simulation, segment: Segment) -> dict:
    """The result with the earliest later tuple that is missing, extra or repeated, and the cycle of it: that in which
    it left, or for one that is missing, in which its later tuple was taken."""
    size, firsts = len(segment.arrivals), {}
    for kind in simulation.known_difference.faults:
        rows = getattr(simulation.known_difference, kind)
        if len(rows):
            firsts[kind] = rows[rows.max(axis=1).argmin()]
    kind, row = min(firsts.items(), key=lambda offence: offence[1].max())
    if kind == "missing":
        cycle = simulation.run.accepted_cycle[row].max()
    else:
        cycle = simulation.run.result_cycle[np.flatnonzero((simulation.numbers == row).all(axis=1))[-1]]
    return {
        "kind": kind,
        # A number that no tuple has is shown as it came.
        "tuples": [int(segment.numbers[number]) if number < size else int(number) for number in row],
        "cycle": int(cycle),
    }


def _limit(timeout: float | None) -> Callable[[int], None] | None:
    """What the simulator calls now and then: TimeoutError when time is up."""
    if timeout is None:
        return None
    end = time.monotonic() + timeout

    def look(accepted: int) -> None:
        if time.monotonic() > end:
            raise TimeoutError(f"{accepted} tuples were taken in {timeout:g} s, then time was up")

    return look


def _whereabouts() -> dict:
    context = TaskContext.get()
    return {"attempt": context.attemptNumber() if context else 0, "worker": f"{platform.node()}:{os.getpid()}"}


class _Watch:
    """Processor time by what it was spent on, and time on the wall."""

    def __init__(self):
        self.cpu: dict[str, float] = {}
        self._started = time.perf_counter()
        self._last = time.process_time()

    def lap(self, name: str) -> None:
        now = time.process_time()
        self.cpu[name], self._last = now - self._last, now

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self._started
