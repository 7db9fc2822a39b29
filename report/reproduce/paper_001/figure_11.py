"""Oge et al. 2011, figure 11: 64 cores take four fifths of the chip, and 128 do not fit."""

import numpy as np

from streamjoin.hdl.registry import find
from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import claim_line, series
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.synth.flow.cost import measure as measure_cost
from streamjoin.synth.flow.targets import find as find_target

#: What a XC6VLX240T has; a slice is four look-up tables and eight registers.
LUTS, REGISTERS = 150_720, 301_440
CLAIMED, FULL, TOO_MANY = 80, 64, 128
CORES = (2, 4, 8, 16)
SEGMENT = 8
TARGET = "xc7"
#: By how much a measured point may lie off the straight line.
STRAIGHT = 0.05


def measure(settings: EntrySettings) -> dict:
    design = find("handshake")
    points = []
    for cores in settings.cores or CORES:
        settings.progress(f"area, {cores} cores")
        given = {**design.presets["paper-001"], "cores": cores, "window": SEGMENT * cores}
        component = design.component(design.parameters(**given))
        cost = measure_cost(component, find_target(TARGET), name=f"handshake with {cores} cores")
        counts = {name: getattr(cost, name) for name in ("luts", "ffs", "brams", "lutrams", "seconds")}
        points.append({"cores": cores, **counts})
    return {"target": TARGET, "points": points}


def shares(data: dict) -> dict[int, tuple[float, float]]:
    """Per cent of the chip's look-up tables and registers by cores: measured, and on the line through those."""
    measured = {p["cores"]: (100 * p["luts"] / LUTS, 100 * p["ffs"] / REGISTERS) for p in data["points"]}
    luts, registers = _lines(measured)
    return {**{cores: (float(luts(cores)), float(registers(cores))) for cores in (FULL, TOO_MANY)}, **measured}


def slices(share: tuple[float, float]) -> tuple[float, float]:
    """Least and most per cent of slices: look-up tables and registers share all slices that they can, or none."""
    return max(share), sum(share)


def judge(data: dict) -> Verdict:
    measured = {point["cores"] for point in data["points"]}
    found = shares(data)
    if len(measured) < 2:
        return Verdict(False, "one number of cores tells nothing about others")
    lines = _lines({cores: found[cores] for cores in measured})
    bend = max(
        abs(share / line(cores) - 1) for cores in measured for share, line in zip(found[cores], lines, strict=True)
    )
    full, too_many = slices(found[FULL]), slices(found[TOO_MANY])
    reasons = [
        (bend <= STRAIGHT, f"area lies within {100 * bend:.1f} % of a straight line"),
        (
            full[0] <= CLAIMED <= full[1],
            f"{FULL} cores take {full[0]:.0f} to {full[1]:.0f} % of the slices{_kind(FULL in measured)}",
        ),
        (too_many[0] > 100, f"{TOO_MANY} would take {too_many[0]:.0f} to {too_many[1]:.0f} %"),
    ]
    return Verdict(all(good for good, _ in reasons), "; ".join(words for _, words in reasons))


def table(data: dict) -> Table:
    measured = {point["cores"]: point for point in data["points"]}
    rows = []
    for cores, share in sorted(shares(data).items()):
        low, high = slices(share)
        theirs = {FULL: "nearly 80", TOO_MANY: "does not fit"}.get(cores, "")
        point = measured.get(cores)
        counts = (f"{point['luts']:,}", f"{point['ffs']:,}") if point else ("extrapolated", "")
        rows.append((str(cores), theirs, f"{low:.1f}-{high:.1f}", *(f"{each:.1f}" for each in share), *counts))
    return Table(("cores", "paper, % slices", "ours, % slices", "% LUTs", "% registers", "LUTs", "registers"), rows)


def chart(data: dict) -> Chart:
    found = dict(sorted(shares(data).items()))
    measured = sorted(point["cores"] for point in data["points"])
    rest = sorted({max(measured), *(cores for cores in found if cores >= max(measured))})
    looks = style.looks(["look-up tables", "registers"])

    def draw(axes, _):
        bounds = [slices(found[cores]) for cores in found]
        axes.fill_between(list(found), *zip(*bounds, strict=True), color=style.COLOURS[3], alpha=0.15, linewidth=0)
        middle = (FULL + TOO_MANY) / 2
        axes.annotate(
            "slices lie\nin between",
            (middle, np.interp(middle, list(found), [sum(b) / 2 for b in bounds])),
            ha="center",
            va="center",
            fontsize=8.5,
            color=style.COLOURS[3],
        )
        for number, look in enumerate(looks.values()):
            axes.plot(rest, [found[cores][number] for cores in rest], color=look.colour, linestyle=(0, (4, 3)))
            series(axes, measured, [found[cores][number] for cores in measured], look)
        claim_line(axes, 100, "the whole XC6VLX240T")
        axes.plot([FULL], [CLAIMED], "*", color=style.INK, markersize=12, zorder=4)
        axes.annotate(
            "paper: nearly 80 % of slices",
            (FULL, CLAIMED),
            xytext=(-8, 4),
            textcoords="offset points",
            ha="right",
            fontsize=8.5,
            color=style.INK,
        )
        style.dress(axes, title="Dashed: on the line through the measured points", x="Cores", y="% of the chip")
        axes.set_xticks([cores for cores in found if cores >= 8], [str(cores) for cores in found if cores >= 8])
        axes.set_xlim(0, TOO_MANY * 1.03)
        axes.set_ylim(0, max(110, 1.05 * bounds[-1][1]))

    return Chart(ENTRY.name, f"Area against cores ({ENTRY.source})", ENTRY.claim, [Panel(draw)], looks)


def _lines(measured: dict[int, tuple[float, float]]) -> list[np.poly1d]:
    """Straight lines through the shares; each point counts by its own size, so that small ones are met as well."""
    cores = np.array(list(measured))
    degree = min(1, len(cores) - 1)
    columns = np.array(list(measured.values())).T
    return [np.poly1d(np.polyfit(cores, column, degree, w=1 / column)) for column in columns]


def _kind(measured: bool) -> str:
    return "" if measured else " on that line"


ENTRY = Entry(
    name="001-figure-11",
    where="figure 11",
    title="Area against cores",
    claim=(f"{FULL} cores take nearly {CLAIMED} % of the slices of a Virtex-6 XC6VLX240T, and {TOO_MANY} do not fit."),
    rule=(
        f"Area grows along a straight line within {100 * STRAIGHT:g} %; at {FULL} cores {CLAIMED} % lies between what "
        "the slices take if look-up tables and registers share them and what they take if not; and at "
        f"{TOO_MANY} cores even the former is more than the chip."
    ),
    differs=(
        "Synthesis for Xilinx 7 series by Yosys, whose netlists for Virtex-6 are the same, without packing: slices are "
        "known only within bounds. The paper's queues are block RAM, which is outside the slices. Core counts "
        "that were not synthesised lie on a line through those that were."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
