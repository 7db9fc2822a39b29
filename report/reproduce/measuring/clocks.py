"""The clock against the number of cores, segments of 8: shared by the figures of both papers that show it."""

import math
from collections.abc import Mapping

import numpy as np

from streamjoin.hdl.registry import find
from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import claim_band, claim_line, series
from streamjoin.report.reproduce.framework.entry import EntrySettings, Table
from streamjoin.synth.flow.cost import measure
from streamjoin.synth.flow.errors import TooLargeError
from streamjoin.synth.flow.targets import find as find_target

#: Few enough for minutes; all that were placed and routed before come from the cache.
CORES = (2, 4, 8)
SEGMENT = 8
TARGET = "ecp5-85k"


def measure_clocks(variants: Mapping[str, Mapping[str, object]], settings: EntrySettings, target: str = TARGET) -> dict:
    """Fmax of each variant (parameters of a handshake join) at each number of cores."""
    design, device = find("handshake"), find_target(target)
    points = []
    for variant, given in variants.items():
        for cores in settings.cores or CORES:
            parameters = design.parameters(**{**given, "cores": cores, "window": SEGMENT * cores})
            name = f"handshake with {cores} cores, {variant},"
            settings.progress(f"{name} on {target}")
            point = {"variant": variant, "cores": cores, "parameters": parameters.as_dict()}
            try:
                cost = measure(
                    design.component(parameters), device, name=name, seeds=settings.seeds, jobs=settings.jobs
                )
                point |= {"cost": cost.as_dict()}
            except TooLargeError as error:
                point |= {"cost": None, "failure": str(error)}
            points.append(point)
    return {"target": target, "device": device.device, "clock": device.clock, "points": points}


def medians(data: dict) -> dict[str, dict[int, float]]:
    """Of each variant the median Fmax by cores; what does not fit has none."""
    found: dict[str, dict[int, float]] = {}
    for point in data["points"]:
        if point["cost"] is not None:
            found.setdefault(point["variant"], {})[point["cores"]] = point["cost"]["fmax_mhz"]["median"]
    return found


def missing(data: dict) -> list[str]:
    """What has no clock because it does not fit, in words."""
    return [f"{point['variant']} with {point['cores']} cores" for point in data["points"] if point["cost"] is None]


def exponent(clocks: dict[int, float]) -> float:
    """The k for which clocks follow cores^-k best; 0 where there is but one."""
    if len(clocks) < 2:
        return 0.0
    slope, _ = np.polyfit(np.log(list(clocks)), np.log(list(clocks.values())), 1)
    return -float(slope)


def clock_table(data: dict, theirs: str) -> Table:
    """A row for each number of cores, a column for each variant."""
    found = medians(data)
    variants = list(dict.fromkeys(point["variant"] for point in data["points"]))
    rows = []
    for cores in sorted({point["cores"] for point in data["points"]}):
        ours = [found.get(variant, {}).get(cores, math.nan) for variant in variants]
        rows.append((str(cores), theirs, *("does not fit" if math.isnan(mhz) else f"{mhz:.1f}" for mhz in ours)))
    return Table(("cores", "paper, MHz", *(f"{variant}, MHz" for variant in variants)), rows)


def clock_chart(data: dict, name: str, heading: str, claim: tuple[float, float], words: str) -> Chart:
    """Medians joined by lines, a bar from the slowest to the fastest seed, a cross for what does not fit, the claim."""
    found = medians(data)
    looks = style.looks(list(found))

    def draw(axes, _):
        for variant, clocks in found.items():
            series(axes, list(clocks), list(clocks.values()), looks[variant])
        for point in data["points"]:
            if point["cost"] is not None:
                mhz, colour = point["cost"]["fmax_mhz"], looks[point["variant"]].colour
                axes.vlines(point["cores"], mhz["min"], mhz["max"], color=colour, linewidth=5, alpha=0.3)
            else:
                place = {"transform": axes.get_xaxis_transform(), "clip_on": False}
                axes.plot([point["cores"]], [0.04], "x", color=style.ALARM, markeredgewidth=2, **place)
        low, high = claim
        if low == high:
            claim_line(axes, low, words)
        else:
            claim_band(axes, low, high, words)
        style.dress(axes, title=f"{data['device']}, {data['clock']}", x="Cores", y="Fmax in MHz")
        style.along(axes, [point["cores"] for point in data["points"]])
        style.upward(axes, [high, *(mhz for clocks in found.values() for mhz in clocks.values())])

    return Chart(name, heading, words, [Panel(draw)], looks)
