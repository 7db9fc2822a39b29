"""Handshake join and low-latency handshake join as Roy et al. 2014 measure them: side by side, as fast as they go.

Windows last the same time whatever the number of cores, so that more cores let more tuples in, and windows hold more of
them. A tuple of each stream is compared with a window each, by as many comparators as there are cores: with c cores a
window that lasts ``span`` cycles holds about √(span × c / 2) tuples of its stream.
"""

import functools
from collections.abc import Callable
from math import sqrt

import numpy as np

from streamjoin.hdl.registry import find
from streamjoin.reference.errors import DesignError
from streamjoin.report.reproduce.framework.entry import EntrySettings
from streamjoin.report.reproduce.measuring.sorting import disorder, most_waiting
from streamjoin.sim.run.simulate import Simulation, Simulator
from streamjoin.sim.tuples.workload import Workload

#: The paper goes from 4 to 40 cores.
CORES = (4, 8, 16, 40)
SPAN = 1 << 20
#: 3000 tuples a second, windows of 15 minutes and a hit rate of 1 : 250,000 give so many partners to a tuple.
PARTNERS = 10

HANDSHAKE, LOW_LATENCY = "handshake join", "low-latency handshake join"
PUNCTUATED, INDEXED = f"{LOW_LATENCY}, punctuations", f"{LOW_LATENCY}, hash index"
#: Each core compares one pair a cycle.
CHAINS = {
    HANDSHAKE: ("handshake", {"scan": "sequential", "storage": "memory"}),
    LOW_LATENCY: ("llhj", {"comparators": "shared"}),
    PUNCTUATED: ("llhj", {"comparators": "shared", "punctuation": 1}),
    INDEXED: ("llhj", {"comparators": "shared", "index": "hash"}),
}


def window(cores: int, span: int = SPAN) -> int:
    """Tuples of a stream that a window of ``span`` cycles holds, the same number in each core."""
    return cores * max(1, round(sqrt(span / (2 * cores))))


def simulate(chain: str, given: dict, tuples: int, match_rate: float) -> Simulation:
    """One run of a chain with further parameters; DesignError if its result is not exact."""
    name, common = CHAINS[chain]
    design = find(name)
    parameters = design.parameters(**common | given)
    workload = Workload(match_rate=match_rate, predicate=parameters.predicate, key_width=parameters.key_width)
    simulation = Simulator.build(design, parameters).run(workload.slice(0, tuples))
    if not simulation.exact:
        raise DesignError(f"{chain} with {given} gives another result than the reference")
    return simulation


def simulate_windows(chain: str, cores: int, window_r: int, window_s: int) -> Simulation:
    """A run that fills both windows and goes on for as long again."""
    longer = max(window_r, window_s)
    given = {"cores": cores, "window_r": window_r, "window_s": window_s}
    return simulate(chain, given, 4 * longer, PARTNERS / longer)


def steady(simulation: Simulation) -> slice:
    """The arrivals that meet full windows, and whose results are all out before the drain begins.

    The slowest result of handshake join takes half a window of each stream; some room is left for what cores, mergers
    and the gate add to that.
    """
    longer = max(simulation.simulator.parameters.windows)
    return slice(2 * longer, len(simulation.arrivals) - longer - longer // 4)


def cycles_per_pair(simulation: Simulation, part: slice) -> float:
    """Cycles from one tuple of a stream to its next, over a part of the arrivals; streams take turns."""
    cycles = simulation.run.accepted_cycle[part][::2]
    return float(cycles[-1] - cycles[0]) / (len(cycles) - 1)


def figures(simulation: Simulation) -> dict:
    """What the figures of Roy et al. 2014 show of a run, as plain data; of its steady part, except for ``buffer``."""
    part = steady(simulation)
    begin_end = simulation.run.accepted_cycle[[part.start, part.stop]]
    later = simulation.numbers.max(axis=1)
    latencies = simulation.latencies[(part.start <= later) & (later < part.stop)]
    given, said = simulation.simulator.parameters.as_dict(), simulation.punctuations
    return {
        **{name: given[name] for name in ("cores", "window_r", "window_s")},
        "tuples": len(simulation.arrivals),
        "results": len(later),
        "steady_cycles": begin_end.tolist(),
        "cycles_per_pair": cycles_per_pair(simulation, part),
        "latency": {"results": len(latencies), "mean": float(latencies.mean()), "max": int(latencies.max())},
        "disorder": disorder(later, *np.searchsorted(simulation.run.result_cycle, begin_end)),
        "buffer": None if said is None else most_waiting(later, said.position, said.covered),
    }


@functools.cache
def measure_windows(chain: str, cores: int, window_r: int, window_s: int) -> dict:
    """The figures of a chain, under its name; measured once however many entries ask."""
    return {"chain": chain, **figures(simulate_windows(chain, cores, window_r, window_s))}


def measure(settings: EntrySettings, chains: tuple[str, ...], span: int = SPAN) -> list[dict]:
    """The figures of each chain at each number of cores."""
    points = []
    for chain in chains:
        for cores in settings.cores or CORES:
            size = window(cores, span)
            settings.progress(f"{chain}, {cores} cores, windows of {size}")
            points.append(measure_windows(chain, cores, size, size))
    return points


def by_cores(points: list[dict], chain: str, value: Callable[[dict], float]) -> dict[int, float]:
    """One value of each point of a chain, by its cores."""
    return {point["cores"]: value(point) for point in points if point["chain"] == chain}
