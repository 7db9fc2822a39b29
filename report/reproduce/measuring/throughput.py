"""Throughput against match rate as Oge et al. 2011 measure it: a buffer of tuples, 100 MHz, beside a nested loop."""

import dataclasses
import functools

from streamjoin.hdl.registry import find
from streamjoin.reference.bibliography import PAPERS
from streamjoin.reference.errors import DesignError
from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import series
from streamjoin.report.reproduce.framework.entry import EntrySettings
from streamjoin.sim.run.match_rate import RatePoint
from streamjoin.sim.run.match_rate import measure as measure_rates
from streamjoin.sim.run.simulate import Simulator

MHZ = 100
CORES, SEGMENT = 64, 8
RATES = (0, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
#: The designs: the paper's, the same with mergers that pass a result in every cycle, and the baseline.
PAPER = f"handshake, mergers of {PAPERS['001'].short}"
STREAMING, BASELINE = "handshake, streaming mergers", "nested loop"


def simulators(cores: int = CORES) -> dict[str, Simulator]:
    """The three designs with windows of eight tuples a core."""
    handshake, nested_loop = find("handshake"), find("nested-loop")
    window = SEGMENT * cores
    paper = {**handshake.presets["paper-001"], "cores": cores, "window": window}
    designs = {
        PAPER: (handshake, paper),
        STREAMING: (handshake, {**paper, "merger": "streaming"}),
        BASELINE: (nested_loop, {"window": window}),
    }
    return {name: Simulator.build(d, d.parameters(**given)) for name, (d, given) in designs.items()}


def measure_series(
    simulators: dict[str, Simulator], inputs: int, rates: tuple[float, ...] = RATES
) -> dict[str, list[RatePoint]]:
    """A run for each design and match rate, ``inputs`` tuples of each stream; DesignError if one is not exact."""
    found = {name: measure_rates(simulator, rates, lambda _: 2 * inputs) for name, simulator in simulators.items()}
    for name, points in found.items():
        if not all(point.exact for point in points):
            raise DesignError(f"{name} gives another result than the reference")
    return found


def measure(settings: EntrySettings, *, cores: int = CORES, rates: tuple[float, ...] = RATES) -> dict:
    """Input buffers of one window and of two, as plain data; measured once however many figures ask."""
    settings.progress(f"handshake join with {cores} cores and a nested loop at {len(rates)} match rates")
    return {"cores": cores, "window": SEGMENT * cores, "mhz": MHZ, "buffers": _buffers(cores, rates)}


@functools.cache
def _buffers(cores: int, rates: tuple[float, ...]) -> list[dict]:
    built = simulators(cores)
    buffers = []
    for windows in (1, 2):
        inputs = windows * SEGMENT * cores
        found = measure_series(built, inputs, rates)
        points = {name: [dataclasses.asdict(point) for point in line] for name, line in found.items()}
        buffers.append({"inputs": inputs, "series": points})
    return buffers


def per_second(data: dict, points: list[dict], what: str) -> list[float]:
    """Million ``tuples`` or ``results`` a second."""
    return [data["mhz"] * point[what] / point["cycles"] for point in points]


def chart(data: dict, what: str, name: str, heading: str, claim: str, mark) -> Chart:
    """A panel for each buffer; ``mark(axes, buffer)`` draws the claim in."""
    looks = style.looks(list(data["buffers"][0]["series"]))

    def panel(buffer):
        def draw(axes, _):
            highest = 0.0
            for design, points in buffer["series"].items():
                values = per_second(data, points, what)
                highest = max(highest, *values)
                at = [100 * point["match_rate"] for point in points]
                series(axes, at, values, looks[design], dashed=design == BASELINE)
            windows = buffer["inputs"] // data["window"]
            title = f"{buffer['inputs']} tuples a stream, {windows} window{'s' if windows > 1 else ''}"
            style.dress(axes, title=title, x="Match rate in %", y=f"Million {what} a second")
            axes.set_ylim(0, 1.15 * highest)
            axes.set_xlim(-2, 102)
            mark(axes, buffer)

        return Panel(draw)

    return Chart(name, heading, claim, [panel(buffer) for buffer in data["buffers"]], looks)
