"""The picture of throughput against match rate."""

from itertools import cycle
from math import log10
from pathlib import Path

from matplotlib.figure import Figure

from streamjoin.sim.run.match_rate import RatePoint

_COLOURS = ("#0b6e99", "#d9730d", "#6940a5", "#448361")


def draw_throughput(series: dict[str, list[RatePoint]], title: str, path: Path) -> None:
    """Tuples a cycle against match rate, both logarithmic, one line a design, and the limit that all share.

    A match rate of 0 stands at the left edge, a step below the lowest rate that is not 0.
    """
    lowest = min(point.match_rate for points in series.values() for point in points if point.match_rate > 0)
    zero = lowest / 10
    figure = Figure(figsize=(8, 4.8), layout="constrained")
    axes = figure.add_subplot()

    def line(points, value, **style):
        axes.plot([point.match_rate or zero for point in points], [value(point) for point in points], **style)

    labelled = []

    def label(text, value, colour):
        # At the left edge, above the line, or below it where another line runs along: all are flat there.
        above = 7 if all(abs(log10(value / other)) > 0.05 for other in labelled) else -14
        labelled.append(value)
        axes.annotate(text, (zero, value), xytext=(0, above), textcoords="offset points", color=colour, fontsize=9)

    everywhere = max(series.values(), key=len)
    line(everywhere, lambda point: point.limit, color="#d3d1cb", linewidth=7, solid_capstyle="round")
    for (name, points), colour in zip(series.items(), cycle(_COLOURS), strict=False):
        line(points, lambda point: point.tuples_per_cycle, color=colour, marker="o", markersize=4)
        label(name, points[0].tuples_per_cycle, colour)
    label("limit: two tuples in and one result out a cycle", 2 * 1.3, "#787774")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(top=6)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.minorticks_off()
    ticks = [zero, *(10.0**n for n in range(-8, 1) if lowest <= 10.0**n)]
    axes.set_xticks(ticks, ["0", *(f"{100 * tick:g} %" for tick in ticks[1:])])
    axes.set_xlabel("match rate: probability that two tuples match")
    axes.set_ylabel("tuples accepted a cycle")
    axes.set_title(title, loc="left", fontsize=11)
    axes.grid(alpha=0.3, which="major")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, dpi=150)
