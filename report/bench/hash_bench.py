"""What the hash join is held to: tuples a cycle, latency, clock on an ECP5, and one CPU core in the same run."""

import statistics
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np

from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Arrivals
from streamjoin.reference.errors import DesignError
from streamjoin.report.bench.figures import Figure
from streamjoin.report.yardstick.one_core import one_cpu_core
from streamjoin.sim.run.simulate import Simulation, Simulator
from streamjoin.sim.tuples.offers import poisson
from streamjoin.sim.tuples.workload import Workload
from streamjoin.synth.flow.cost import Cost, measure
from streamjoin.synth.flow.targets import find as find_target

RESULTS_PER_TUPLE = (0, 0.05, 0.2, 0.45, 0.7, 1, 2, 4, 8)
#: Named by what they are: parameters beside the window.
NARROW, BAND = {}, {"predicate": "band:3"}
WIDE, WIDE_RESULTS, WIDEST = {"width": 4}, {"width": 4, "results": 4}, {"width": 8}
SEEDS = 3
#: What place and route is asked for, by width.
TARGETS = {1: "ecp5-85k@210", 4: "ecp5-85k@140"}
#: No two of so many keys, of which some are more frequent than others, match more rarely than by chance.
ZIPF_KEYS = 1 << 16
_TUPLES = 4_000_000


@cache
def simulator(window: int, **given) -> Simulator:
    design = find("hash")
    return Simulator.build(design, design.parameters(window=window, **given))


def workload(simulated: Simulator, per_tuple: float, keys: str = "uniform") -> Workload:
    """Tuples of which each makes so many results, on average, once windows are full."""
    p = simulated.parameters
    return Workload(match_rate=per_tuple / p.windows[0], predicate=p.predicate, keys=keys)


def run(simulated: Simulator, arrivals: Arrivals, **how) -> Simulation:
    simulation = simulated.run(arrivals, **how)
    if not simulation.exact:
        raise DesignError(f"{simulated.parameters.as_dict()} gives another result than the reference")
    return simulation


def speed(simulated: Simulator, per_tuple: float, keys: str = "uniform") -> tuple[float, float]:
    """Tuples a cycle while windows are full, and the share of what inputs and output allow."""
    p = simulated.parameters
    full = 2 * max(p.windows)
    arrivals = workload(simulated, per_tuple, keys).slice(0, full + min(full, 60_000) + 20_000)
    simulation = run(simulated, arrivals)
    taken = simulation.run.accepted_cycle
    pace = (len(taken) - full) / (taken[-1] - taken[full])
    made = np.count_nonzero(simulation.numbers.max(axis=1, initial=-1) >= full) / (len(taken) - full)
    return float(pace), float(pace / min(2 * p.width, p.results / made if made else np.inf))


def narrow(_: Path) -> Iterator[Figure]:
    """One tuple of each stream a cycle, at any match rate."""
    for window in (4096, 16_384):
        for what, given, keys, goal in (
            ("uniform keys", NARROW, "uniform", 0.97),
            ("Zipf keys", NARROW, "zipf", 0.95),
            ("band of ±3", BAND, "uniform", 0.97),
        ):
            for per_tuple in RESULTS_PER_TUPLE:
                if keys == "zipf" and 0 < per_tuple / window < 1 / ZIPF_KEYS:
                    continue
                pace, share = speed(simulator(window, **given), per_tuple, keys)
                where = f"windows of {window:,}, {what}, {per_tuple:g} results a tuple"
                yield Figure(f"{where}: tuples", pace, "a cycle")
                yield Figure(f"{where}: share of the limit", share, "", f">= {goal}")


def wide(_: Path) -> Iterator[Figure]:
    """Several tuples of each stream a cycle."""
    for given, per_tuple, goal in (
        (WIDE, 0.05, 0.9 * 8),
        (WIDE, 0.1, 0.9 * 8),
        (WIDE_RESULTS, 0.4, 0.9 * 8),
        (WIDEST, 0.05, 0.85 * 16),
    ):
        pace, _share = speed(simulator(4096, **given), per_tuple)
        words = ", ".join(f"{name}={value}" for name, value in given.items())
        yield Figure(f"{words}, {per_tuple:g} results a tuple: tuples", pace, "a cycle", f">= {goal:g}")


def latency(_: Path) -> Iterator[Figure]:
    """From the offer of the later tuple to its result."""
    for window in (256, 4096, 16_384):
        simulated = simulator(window)
        lone = run(simulated, Arrivals(stream=[0, 1], key=[7, 7])).latencies
        yield Figure(f"windows of {window:,}: a pair that comes alone", int(lone.max()), "cycles", "<= 40")
        rate = Fraction(9, 10) * 2
        arrivals = workload(simulated, 0.2).slice(0, 6 * window + 20_000)
        figures = run(simulated, arrivals, offers=poisson(len(arrivals), rate, 1)).summary()
        where = f"windows of {window:,}, offered {float(rate):g} tuples a cycle at random"
        yield Figure(f"{where}: 99 % of results within", figures["sojourn_cycles"]["p99"], "cycles", "<= 100")


def median_mhz(cost: Cost) -> float:
    return statistics.median(cost.fmax_mhz.values())


@cache
def clock(window: int, width: int, seeds: int = SEEDS, **given) -> Cost:
    """Area and clock of a hash join on an ECP5, from the cache where it has been placed and routed before."""
    design = find("hash")
    component = design.component(design.parameters(window=window, width=width, **given))
    return measure(component, find_target(TARGETS[width]), name=f"hash, width={width}", seeds=seeds)


def clocks(_: Path) -> Iterator[Figure]:
    """Post-route on LFE5UM5G-85F. Up to half an hour for each window that is not in the cache."""
    medians = []
    for window in (256, 1024, 4096, 8192):
        cost = clock(window, 1)
        medians.append(median_mhz(cost))
        where = f"width=1, windows of {window:,}"
        # At windows of 4096 each of the seeds is held to the goal.
        slowest = min(cost.fmax_mhz.values())
        yield Figure(f"{where}: clock, slowest seed", slowest, "MHz", ">= 200" if window == 4096 else "")
        yield Figure(f"{where}: clock, median", medians[-1], "MHz")
        yield Figure(f"{where}: look-up tables", cost.luts, "LUTs", "<= 3500" if window == 4096 else "")
        yield Figure(f"{where}: block RAMs", cost.brams, "EBRs")
    apart = 100 * (1 - min(medians) / max(medians))
    yield Figure("width=1: clocks from windows of 256 to 8,192 are apart", apart, "%", "<= 10")


def wide_clocks(_: Path) -> Iterator[Figure]:
    """The same for width 4: hours."""
    for given, per_tuple in ((WIDE, 0.1), (WIDE_RESULTS, 0.4)):
        words = ", ".join(f"{name}={value}" for name, value in given.items())
        cost = clock(4096, **given)
        pace, _share = speed(simulator(4096, **given), per_tuple)
        yield Figure(f"{words}: clock, slowest seed", min(cost.fmax_mhz.values()), "MHz")
        yield Figure(f"{words}: look-up tables", cost.luts, "LUTs")
        rate = pace * median_mhz(cost)
        yield Figure(f"{words}, {per_tuple:g} results a tuple", rate, "Mtuples/s", ">= 1000")


def beside_one_core(_: Path) -> Iterator[Figure]:
    """Simulated cycles at the clock of the same netlist, and one CPU core, in the same run."""
    for window in (256, 4096):
        simulated = simulator(window)
        tuples = workload(simulated, 0.2)
        core = one_cpu_core(tuples.predicate, (window, window), tuples.slice(0, _TUPLES))
        pace, _share = speed(simulated, 0.2)
        rate = pace * median_mhz(clock(window, 1))
        where = f"windows of {window:,}, 0.2 results a tuple"
        yield Figure(f"{where}: {core.processor}, one core", core.tuples_per_second / 1e6, "Mtuples/s")
        yield Figure(f"{where}: width=1", rate, "Mtuples/s", ">= 390" if window == 4096 else "")
        yield Figure(f"{where}: width=1 beside one core", rate * 1e6 / core.tuples_per_second, "times", ">= 2")


SECTIONS = {
    "One tuple of each stream a cycle": narrow,
    "Several tuples of each stream a cycle": wide,
    "Latency": latency,
    "One CPU core beside it": beside_one_core,
}
#: Hours, unless they are in the cache.
CLOCK_SECTIONS = {
    "Clock on LFE5UM5G-85F": clocks,
    "Clock of several tuples a cycle": wide_clocks,
}
