"""What BI-Sort's mergers and probers are held to, step by step.

Records are the results, so that the end of each step is seen, and probing does not depend on the number of pairs. To
see mergers alone, all tuples are of R; to see probers, R is filled, and then all are of S, whose array is small.
Figures are of the last steps, when arrays are long.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from streamjoin.hdl.bisort.parameters import BisortParameters
from streamjoin.hdl.registry import find
from streamjoin.report.bench.figures import Figure
from streamjoin.sim.run.model import Model
from streamjoin.sim.run.simulate import Simulator

SUBWINDOW, BATCH, PARTITIONS = 65_536, 1024, 512
#: With keys over all 32 bits one of 65,536 tuples is in the band, and 4096 if keys are that much closer.
BAND, NEAR = 1 << 15, 4096
#: Two channels of DDR3-1066, 17.06 GB/s, at 250 MHz.
DDR3 = {"bandwidth": 68, "latency": 30}
#: A memory that never makes anybody wait for long.
UNLIMITED = {"bandwidth": 100_000, "latency": 2}
#: Last steps that are looked at.
LAST = 8


@dataclasses.dataclass(frozen=True)
class Step:
    """A step: the tuples it merges into, those of its batch, and the cycles it took."""

    held: int
    fresh: int
    cycles: int


def simulator(**given) -> Simulator:
    sizes = {"window": SUBWINDOW, "subwindow": SUBWINDOW, "partitions": PARTITIONS, "batch": BATCH}
    given = {**sizes, "predicate": f"band:{BAND}", "collect": 1 << 20, "output": "records", **UNLIMITED, **given}
    design = find("bisort")
    return Simulator.build(design, design.parameters(**given))


def parameters_of(simulated: Simulator) -> BisortParameters:
    assert isinstance(simulated.parameters, BisortParameters)
    return simulated.parameters


def steps(simulated: Simulator, stream: np.ndarray, key: np.ndarray) -> tuple[list[Step], np.ndarray]:
    """All steps of a run, and for each the sum of matches in its records."""
    fields = {"key": key, "payload": np.arange(len(key)) & 0xFFFFFFFF}
    with Model(simulated.library, simulated.verilog.manifest, None) as model:
        run = model.run(fields, stream, patience=simulated.parameters.patience)
    ends = np.flatnonzero(run.result["mark"])
    taken = np.diff(run.result_cycle[ends], prepend=0)
    held = [0, 0]
    found = []
    for end, cycles in zip(ends, taken, strict=True):
        of, fresh = int(run.result["of_s"][end]), int(run.result["count"][end])
        held[of] %= parameters_of(simulated).arrays.subwindow
        found.append(Step(held[of], fresh, int(cycles)))
        held[of] += fresh
    matches = np.where(run.result["mark"], 0, run.result["count"]).cumsum()[ends]
    return found, np.diff(matches, prepend=0)


def filled(probes: int, spread: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """R's subwindow to the brim, then so many batches of S, with keys spread evenly over a part of all keys."""
    rng = np.random.default_rng(1)
    top = (1 << 32) // spread
    batches = [rng.permutation(np.linspace(0, top - 1, BATCH).astype(np.int64)) for _ in range(probes)]
    key = np.concatenate([rng.permutation(np.linspace(0, top - 1, SUBWINDOW).astype(np.int64)), *batches])
    return np.repeat([0, 1], [SUBWINDOW, probes * BATCH]), key


def merged_a_cycle(simulated: Simulator) -> float:
    """Tuples a cycle of the last steps, in which only R comes.

    The end of a step is told when probing is over, and here it is over at once: so the merging of a step lies between
    what is told of it and of the next.
    """
    rng = np.random.default_rng(1)
    found, _ = steps(simulated, np.zeros(SUBWINDOW, int), rng.integers(0, 1 << 32, SUBWINDOW))
    cycles = sum(step.cycles for step in found[-LAST:])
    return sum(step.held + step.fresh for step in found[-LAST - 1 : -1]) / cycles


def probing_cycles(simulated: Simulator, spread: int = 1) -> tuple[float, float]:
    """Cycles that a batch of S takes to probe a full subwindow of R, and the matches of a tuple."""
    found, matches = steps(simulated, *filled(1 + LAST, spread))
    return float(np.mean([step.cycles for step in found[-LAST:]])), float(matches[-LAST:].mean() / BATCH)


def mergers(_: Path) -> Iterator[Figure]:
    for number in (1, 2, 4, 8):
        rate = merged_a_cycle(simulator(mergers=number))
        yield Figure(f"{number} mergers: tuples a cycle and merger", rate / number, "tuples", ">= 0.95")


def probers(_: Path) -> Iterator[Figure]:
    for number in (1, 2, 4):
        cycles = probing_cycles(simulator(mergers=8, probers=number))[0]
        # Every partition has bounds in it, so that both scanners of a prober read their share of the whole array.
        yield Figure(f"{number} probers: tuples a cycle and scanner", SUBWINDOW / number / cycles, "tuples", ">= 0.95")


def selectivity(_: Path) -> Iterator[Figure]:
    simulated = simulator(mergers=8, probers=4)
    (few, one), (many, all_) = (probing_cycles(simulated, spread) for spread in (1, NEAR))
    yield Figure("matches of a tuple, keys far apart", one, "tuples")
    yield Figure("matches of a tuple, keys close together", all_, "tuples", ">= 4000")
    yield Figure("cycles of a probing step, keys far apart", few, "cycles")
    yield Figure("cycles of a probing step, keys close together", many, "cycles")
    yield Figure("change of the cost of probing", 100 * abs(many / few - 1), "%", "<= 10")


def external_memory(_: Path) -> Iterator[Figure]:
    """Two channels of DDR3-1066 do not allow 8 mergers to be busy all the time."""
    simulated = simulator(mergers=8, probers=4, **DDR3)
    p = parameters_of(simulated)
    bytes_a_tuple = -(-p.arrays.line.size // 8) / p.lanes
    rate = merged_a_cycle(simulated)
    # Each tuple is read, except those of the batch, and written.
    moved = rate * bytes_a_tuple * (2 - BATCH / SUBWINDOW)
    yield Figure("8 mergers: tuples a cycle", rate, "tuples")
    yield Figure("8 mergers: share of the memory's bandwidth", moved / DDR3["bandwidth"], "", ">= 0.9")
    cycles = probing_cycles(simulated)[0]
    read = 2 * SUBWINDOW * bytes_a_tuple / cycles
    yield Figure("4 probers: tuples a cycle and scanner", SUBWINDOW / 4 / cycles, "tuples")
    yield Figure("4 probers: share of the memory's bandwidth", read / DDR3["bandwidth"], "", ">= 0.9")


SECTIONS = {
    "Mergers side by side, when memory allows": mergers,
    "Probers side by side, when memory allows": probers,
    "Probing against selectivity": selectivity,
    "Two channels of DDR3-1066 at 250 MHz": external_memory,
}
