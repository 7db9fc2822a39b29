"""``make bench``: the figures that designs are held to, measured side by side in one run.

They are written to build/bench, or with ``ARGS=--record`` to docs/results, with date and versions.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from amaranth.sim import Simulator as AmaranthSimulator
from tqdm import tqdm

from streamjoin.hdl.registry import find
from streamjoin.reference.bibliography import PAPERS
from streamjoin.report.bench import bisort_bench, hash_bench, large_subwindow_bench, low_latency_bench, yardstick_bench
from streamjoin.report.bench.figures import Figure, write_figures
from streamjoin.report.match_rate import draw_throughput
from streamjoin.report.reproduce.measuring.throughput import BASELINE, PAPER, STREAMING, measure_series, simulators
from streamjoin.sim.run.cocotb_runner import run_bench
from streamjoin.sim.run.match_rate import measure
from streamjoin.sim.run.model import Model
from streamjoin.sim.run.simulate import Simulator, design_verilog
from streamjoin.sim.run.verilate import Library, build_library
from streamjoin.sim.tuples.workload import Workload
from streamjoin.sim.verilog.generate import Verilog, generate

RECORDS = Path("docs", "results")
#: Verilator's own limit up to which it inlines modules; ours is 1, so that modules used often stay functions.
_STOCK_INLINING = ("--inline-mult", "2000")
_ROUNDS = 8


def simulation_speed(_: Path) -> Iterator[Figure]:
    """The bulk driver beside the two other ways to simulate, with 4 cores."""
    design = find("handshake")
    parameters = design.parameters(cores=4, window=32)
    verilog = design_verilog(design, parameters)
    (bulk,) = _bulk_speeds({"bulk": (verilog, build_library(verilog))}, 1_000_000).values()
    cocotb = _cocotb_speed(design.component(parameters), cycles=40_000)
    amaranth = _amaranth_speed(design.component(parameters), cycles=300)
    yield Figure("bulk driver, 4 cores", bulk, "cycles/s")
    yield Figure("cocotb on Verilator driving every cycle, 4 cores", cocotb, "cycles/s")
    yield Figure("Amaranth's simulator, 4 cores", amaranth, "cycles/s")
    yield Figure("bulk driver against cocotb", bulk / cocotb, "times", ">= 50")
    yield Figure("bulk driver against Amaranth's simulator", bulk / amaranth, "times", ">= 1000")


def shared_modules(_: Path) -> Iterator[Figure]:
    """64 cores as we build them, and what each step of the way is worth."""
    design = find("handshake")
    parameters = design.parameters(cores=64, window=512)
    shared = design_verilog(design, parameters)
    apart = generate(design.component(parameters), "handshake", share=False)
    contenders = {
        "as we build it": (shared, {}),
        "a module for each instance": (apart, {}),
        "that, and Verilator's own inlining": (apart, {"flags": _STOCK_INLINING}),
        "that, and the reset not registered": (apart, {"flags": _STOCK_INLINING, "registered_reset": False}),
    }
    speeds = _bulk_speeds({name: (v, build_library(v, **options)) for name, (v, options) in contenders.items()}, 40_000)
    for name, speed in speeds.items():
        yield Figure(f"64 cores, {name}", speed, "cycles/s")
    ours, *others, stock = speeds.values()
    for name, speed in zip(list(speeds)[1:-1], others, strict=True):
        yield Figure(f"ours against {name}", ours / speed, "times")
    yield Figure("ours against Amaranth's Verilog straight into Verilator", ours / stock, "times", ">= 2")


def build_times(_: Path) -> Iterator[Figure]:
    """From parameters to a model that runs, with an empty cache."""
    design = find("handshake")
    for cores, limit in ((64, 60), (200, 180)):
        with _empty_cache():
            simulator = Simulator.build(design, design.parameters(cores=cores, window=8 * cores))
        yield Figure(f"build of {cores} cores, parallel scan", simulator.build_seconds, "s", f"<= {limit}")


def throughput(_: Path) -> Iterator[Figure]:
    """Tuples a cycle without matches, and the share of the limit at every match rate."""
    design = find("handshake")
    for cores in (8, 64, 200):
        simulator = Simulator.build(design, design.parameters(cores=cores, window=8 * cores))
        (point,) = measure(simulator, [0], lambda _: 200_000)
        assert point.exact
        yield Figure(f"parallel scan, {cores} cores, no matches", point.tuples_per_cycle, "tuples/cycle", ">= 1.95")
    simulator = Simulator.build(design, design.parameters(**design.presets["parallel-64"]))
    rates = (0, 1e-5, 1e-4, 3e-4, 0.5 / 512, 1 / 512, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0)
    points = measure(simulator, rates, lambda rate: 60_000 if rate < 0.01 else 6_000)
    assert all(point.exact for point in points)
    for point in points:
        what = f"parallel scan, 64 cores, match rate {100 * point.match_rate:.3g} %, share of the limit"
        yield Figure(what, point.share_of_limit, "", ">= 0.97")


def paper_001(folder: Path) -> Iterator[Figure]:
    """Oge et al. 2011, figures 12 and 13: 64 cores, windows of 512, queues of 8 and 4, 100 MHz; a nested loop, too."""
    contenders = simulators()
    for inputs in (512, 1024):
        series = measure_series(contenders, inputs)
        title = f"{PAPERS['001'].place('figure 13')}: {inputs} tuples a stream, 64 cores, windows of 512"
        draw_throughput(series, title, folder / f"paper-001-figure-13-inputs-{inputs}.png")
        ours, streaming, baseline = (series[name] for name in (PAPER, STREAMING, BASELINE))
        for figure, value, unit in (
            ("13, input", lambda point: 100 * point.tuples_per_cycle, "Mtuples/s"),
            ("12, output", lambda point: 100 * point.results_per_cycle, "Mresults/s"),
        ):
            for at in (0, 4, -1):
                for name, points in series.items():
                    rate = 100 * points[at].match_rate
                    yield Figure(f"figure {figure}, {inputs}, {rate:g} %: {name}", value(points[at]), unit)
        crossover = next(
            (p.match_rate for p, q in zip(ours, baseline, strict=True) if p.tuples_per_cycle < q.tuples_per_cycle), 2
        )
        yield Figure(f"figure 13, {inputs}: nested loop wins from this match rate on", 100 * crossover, "%", "<= 100")
        least = min(p.tuples_per_cycle / q.tuples_per_cycle for p, q in zip(streaming, baseline, strict=True))
        yield Figure(f"{inputs}: streaming mergers against nested loop, at least", least, "times", ">= 1")
    # With nothing to wait for, a pair takes exactly the states of the paper: 8 + 8 comparisons and 5 more.
    run = contenders[PAPER].run(Workload(match_rate=0).slice(0, 2000)).run
    cycles = np.diff(run.accepted_cycle[::2])
    assert (cycles == cycles[0]).all()
    yield Figure("sequential scan, segments of 8: cycles a pair, at most", float(cycles.max()), "cycles", "<= 21")
    yield Figure("sequential scan, segments of 8: cycles a pair, at least", float(cycles.min()), "cycles", ">= 21")


Sections = Mapping[str, Callable[[Path], Iterable[Figure]]]

SUITES: dict[str, Sections] = {
    "foundation": {
        "Simulation speed": simulation_speed,
        "Shared modules": shared_modules,
        "Build times": build_times,
        "Throughput": throughput,
        PAPERS["001"].place("figures 12 and 13"): paper_001,
    },
    "low-latency": low_latency_bench.SECTIONS,
    "hash": hash_bench.SECTIONS,
    "hash-clock": hash_bench.CLOCK_SECTIONS,
    "bisort": bisort_bench.SECTIONS,
    "bisort-large": large_subwindow_bench.SECTIONS,
    "yardstick": yardstick_bench.SECTIONS,
}


def _bulk_speeds(contenders: dict[str, tuple[Verilog, Library]], cycles: int) -> dict[str, float]:
    """Cycles a second of the bulk driver with two tuples in every cycle, the best of several rounds.

    The contenders take turns, so that whatever else the machine does hits all of them.
    """
    arrivals = Workload(match_rate=0).slice(0, 2 * cycles)
    fields = {"key": arrivals.key, "payload": np.arange(len(arrivals))}
    speeds = dict.fromkeys(contenders, 0.0)
    for _ in range(_ROUNDS):
        for name, (verilog, library) in contenders.items():
            with Model(library, verilog.manifest) as model:
                seconds = model.run(fields, arrivals.stream, max_cycles=cycles).seconds
            speeds[name] = max(speeds[name], cycles / seconds)
    return speeds


def _cocotb_speed(component, cycles: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "speed.json")
        settings = {"cycles": cycles, "report": str(report)}
        run_bench(component, "handshake", "speed", settings, seed=1)
        told = json.loads(report.read_text())
    return told["cycles"] / told["seconds"]


def _amaranth_speed(component, cycles: int) -> float:
    simulator = AmaranthSimulator(component)
    simulator.add_clock(1e-6)
    seconds = 0.0

    async def drive(ctx):
        nonlocal seconds
        for port in (component.i_r.valid, component.i_s.valid, component.o_result.ready):
            ctx.set(port, 1)
        started = time.perf_counter()
        for cycle in range(cycles):
            ctx.set(component.i_r.payload.key, 2 * cycle)
            ctx.set(component.i_s.payload.key, 2 * cycle + 1)
            await ctx.tick()
        seconds = time.perf_counter() - started

    simulator.add_testbench(drive)
    simulator.run()
    return cycles / seconds


@contextmanager
def _empty_cache() -> Iterator[None]:
    before = os.environ.get("STREAMJOIN_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["STREAMJOIN_CACHE"] = folder
        try:
            yield
        finally:
            del os.environ["STREAMJOIN_CACHE"]
            if before is not None:
                os.environ["STREAMJOIN_CACHE"] = before


def main() -> int:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--record", action="store_true", help="keep the figures under docs/results")
    parser.add_argument("--suite", choices=SUITES, default="foundation", help="which figures (default: %(default)s)")
    parser.add_argument("--only", metavar="SECTION", help="one section, by a part of its title")
    arguments = parser.parse_args()
    folder = RECORDS if arguments.record else Path("build", "bench")
    folder.mkdir(parents=True, exist_ok=True)
    measured: dict[str, list[Figure]] = {}
    sections = SUITES[arguments.suite]
    chosen = {title: run for title, run in sections.items() if (arguments.only or "").lower() in title.lower()}
    if not chosen:
        parser.error(f"no section is called {arguments.only}; there are {', '.join(sections)}")
    for title, run in tqdm(chosen.items(), unit=" sections", disable=None, leave=False):
        tqdm.write(f"\n{title}")
        measured[title] = []
        for figure in run(folder):
            measured[title].append(figure)
            tqdm.write(f"  {figure}")
    words = f"--suite {arguments.suite}" + (f" --only '{arguments.only}'" if arguments.only else "")
    write_figures(measured, folder, arguments.suite, f'make bench ARGS="{words}"')
    missed = [figure for figures in measured.values() for figure in figures if not figure.holds]
    print(f"\n{len(missed)} goals missed" if missed else "\nall goals hold")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
