"""What the chains of messages are held to, beside the lock-step chain with as many comparators, in cycles."""

from collections.abc import Iterator
from pathlib import Path

from streamjoin.hdl.registry import find
from streamjoin.reference.errors import DesignError
from streamjoin.report.bench.figures import Figure
from streamjoin.report.reproduce.measuring.chains import (
    HANDSHAKE,
    INDEXED,
    LOW_LATENCY,
    PUNCTUATED,
    cycles_per_pair,
    simulate,
)
from streamjoin.sim.run.simulate import Simulation, Simulator
from streamjoin.sim.tuples.workload import Workload


def throughput(_: Path) -> Iterator[Figure]:
    """Low latency and punctuations may cost next to nothing, from 64 tuples a core on."""
    for cores, share in ((4, 64), (16, 64), (16, 256)):
        window = cores * share
        pairs = {
            chain: cycles_per_pair(
                simulate(chain, {"cores": cores, "window": window}, 5 * window, 1 / window), slice(2 * window, None)
            )
            for chain in (HANDSHAKE, LOW_LATENCY, PUNCTUATED)
        }
        where = f"{cores} cores, {share} tuples a core"
        yield Figure(f"{where}: cycles a pair, handshake", pairs[HANDSHAKE], "cycles")
        yield Figure(f"{where}: cycles a pair, llhj", pairs[LOW_LATENCY], "cycles")
        kept = pairs[HANDSHAKE] / pairs[LOW_LATENCY]
        yield Figure(f"{where}: llhj's throughput against handshake's", kept, "times", ">= 0.95")
        cost = 100 * (1 - pairs[LOW_LATENCY] / pairs[PUNCTUATED])
        yield Figure(f"{where}: punctuations cost", cost, "%", "<= 2")


def latency(_: Path) -> Iterator[Figure]:
    """The longest wait: for llhj a few cycles a core and one scan of what a core holds, whatever the window."""
    cores, tuples, rate = 64, 100_000, 0.0005
    for window in (4096, 16_384):
        given = {"cores": cores, "window": window}
        longest = {
            chain: int(simulate(chain, given, tuples, rate).latencies.max()) for chain in (HANDSHAKE, LOW_LATENCY)
        }
        where = f"{cores} cores, windows of {window}"
        yield Figure(f"{where}: longest latency, handshake", longest[HANDSHAKE], "cycles")
        yield Figure(f"{where}: longest latency, llhj", longest[LOW_LATENCY], "cycles")
        # Both shares are scanned in turns, by one comparator.
        beside = (longest[LOW_LATENCY] - 2 * window / cores) / cores
        yield Figure(f"{where}: llhj, cycles a core beside the scan", beside, "cycles", "<= 8")
        goal = ">= 1000" if window == 16_384 else ""
        yield Figure(f"{where}: handshake against llhj", longest[HANDSHAKE] / longest[LOW_LATENCY], "times", goal)


def index(_: Path) -> Iterator[Figure]:
    """A hash index in each of 40 cores with 1024 tuples of a stream."""
    given = {"cores": 40, "window": 40 * 1024}
    # A scan takes a tuple whenever a whole window could have been compared, however full it is.
    scan = cycles_per_pair(simulate(LOW_LATENCY, given, 1000, 1 / 250_000), slice(0, None))
    found = cycles_per_pair(simulate(INDEXED, given, 120_000, 1 / 250_000), slice(2 * 40 * 1024, None))
    yield Figure("40 cores, 1024 tuples a core: cycles a pair, scan", scan, "cycles")
    yield Figure("40 cores, 1024 tuples a core: cycles a pair, index", found, "cycles")
    yield Figure("index against scan", scan / found, "times", ">= 40")


def blocked_cores(_: Path) -> Iterator[Figure]:
    """Bursts of matches at some core: the lock-step chain halts as a whole, the asynchronous one does not."""
    sizes = {"cores": 16, "window": 256, "core_queue": 1}
    contenders = {
        "handshake": {**sizes, "scan": "sequential", "storage": "memory"},
        "handshake-async": sizes,
    }
    for rate in (0.0, 0.05):
        cycles = {name: _run(name, given, rate).run.cycles / 5000 for name, given in contenders.items()}
        where = f"16 cores, windows of 256, {100 * rate:g} % match"
        for name, each in cycles.items():
            yield Figure(f"{where}: cycles a pair, {name}", each, "cycles")
        gain = cycles["handshake"] / cycles["handshake-async"]
        yield Figure(f"{where}: handshake-async against handshake", gain, "times", ">= 1.1" if rate else "")


def _run(name: str, given: dict, rate: float) -> Simulation:
    design = find(name)
    simulation = Simulator.build(design, design.parameters(**given)).run(Workload(match_rate=rate).slice(0, 10_000))
    if not simulation.exact:
        raise DesignError(f"{name} with {given} gives another result than the reference")
    return simulation


SECTIONS = {
    "Throughput": throughput,
    "Latency": latency,
    "Hash index": index,
    "Blocked cores": blocked_cores,
}
