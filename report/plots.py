"""Plots of metrics along the axis of a sweep: clock, throughput, area, and what a look-up table buys."""

import dataclasses
from collections.abc import Iterator, Sequence
from operator import itemgetter

from matplotlib.axes import Axes

from streamjoin.hdl.base.design import Published
from streamjoin.hdl.registry import installed
from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel, Tips
from streamjoin.report.metrics import METRICS, POST_ROUTE, Metric, clock_of, fmax
from streamjoin.report.naming import Naming, upper
from streamjoin.report.style import Look


@dataclasses.dataclass(frozen=True)
class Rows:
    """The rows of a sweep with their names and the looks of their series."""

    rows: Sequence[dict]
    naming: Naming

    @property
    def looks(self) -> dict[str, Look]:
        return style.looks(list(dict.fromkeys(self.naming.series(row) for row in self.rows)))

    @property
    def targets(self) -> list[str]:
        return list(dict.fromkeys(row["target"] for row in self.rows if row["target"] is not None))

    def legend(self, rows: Sequence[dict]) -> dict[str, Look]:
        """The series that occur in these rows; a single one needs no legend."""
        names = {self.naming.series(row) for row in rows}
        return {name: look for name, look in self.looks.items() if name in names} if len(names) > 1 else {}


def clock_chart(sweep: Rows) -> Chart | None:
    words = "Fmax by place and route, the median of all seeds; a bar spans the seeds."
    if any(clock_of(row) not in (None, POST_ROUTE) for row in sweep.rows):
        words += " Estimates from logic delays (hollow, dashed) know nothing of routing and have a panel of their own."
    for figure in _published(sweep.rows, "fmax"):
        words += f" The grey line is what {figure.source} reports for a {figure.device}, about {figure.value} MHz."
    return _by_target(sweep, "fmax", "Clock", words)


def throughput_chart(sweep: Rows) -> Chart | None:
    words = (
        "Tuples a second, both streams together, at the lowest match rate: cycles from the simulation times the clock "
        "of the same netlist."
    )
    return _by_target(sweep, "tuples_per_second", "Throughput", words)


def cycles_chart(sweep: Rows) -> Chart | None:
    """Where there is no clock, tuples a cycle are all that can be said."""
    if not any(row["runs"] for row in sweep.rows):
        return None
    metric = METRICS["tuples_per_cycle"]
    # The simulation is the same for all targets.
    rows = [row for row in sweep.rows if row["target"] == sweep.rows[0]["target"]]
    panel = Panel(lambda axes, tips: _lines(axes, tips, sweep, rows, metric, ""))
    words = "Tuples accepted a cycle, both streams together, at the lowest match rate. Two is the most that can enter."
    return Chart("input", "Input", words, [panel], sweep.legend(rows))


def area_chart(sweep: Rows) -> Chart | None:
    return _by_target(
        sweep,
        ("luts", "ffs", "brams"),
        "Area",
        "Look-up tables, flip-flops and block RAMs after mapping. Less is better.",
    )


def comparisons_chart(sweep: Rows) -> Chart | None:
    words = "Comparisons that can be made in a cycle for each thousand look-up tables, mergers and all else included."
    return _by_target(sweep, "comparisons_per_kilolut", "What a look-up table buys", words)


def _by_target(sweep: Rows, metrics: str | tuple[str, ...], heading: str, words: str) -> Chart | None:
    """A panel for each target and metric for which there is any figure."""
    panels, shown = [], []
    first, *others = names = (metrics,) if isinstance(metrics, str) else metrics
    for target in sweep.targets:
        rows = [row for row in sweep.rows if row["target"] == target]
        for metric in (METRICS[name] for name in names):
            if any(metric.of(row) is not None for row in rows):
                estimate = ", estimate" if any(metric.is_estimate(row) for row in rows) else ""
                title = f"{metric.label}, {target}" if others else f"{target}{estimate}"
                panels.append(Panel(_drawer(sweep, rows, metric, title)))
                shown += rows
    return Chart(first, heading, words, panels, sweep.legend(shown)) if panels else None


def _drawer(sweep: Rows, rows: Sequence[dict], metric: Metric, title: str):
    return lambda axes, tips: _lines(axes, tips, sweep, rows, metric, title)


def _lines(axes: Axes, tips: Tips, sweep: Rows, rows: Sequence[dict], metric: Metric, title: str) -> None:
    """One line a series; crosses at the bottom for points that failed."""
    naming = sweep.naming
    placed = [(x, row) for row in rows if (x := naming.position(row)) is not None]
    rows = [row for _, row in placed]
    for name, look in sweep.looks.items():
        ours = sorted(((x, row) for x, row in placed if naming.series(row) == name), key=itemgetter(0))
        good = [(x, value, row) for x, row in ours if (value := metric.of(row)) is not None]
        estimate = any(metric.is_estimate(row) for _, _, row in good)
        at = [x for x, _, _ in good]
        if len(set(at)) > 1:
            line = (0, (4, 3)) if estimate else "-"
            axes.plot(at, [value for _, value, _ in good], color=look.colour, linewidth=look.width, linestyle=line)
        for x, value, row in good:
            least, most = fmax(row, "min"), fmax(row, "max")
            if metric.name == "fmax" and least is not None and most is not None and least != most:
                axes.vlines(x, least, most, color=look.colour, linewidth=4, alpha=0.3)
            words = f"{naming.label(row)}: {metric.text(value)} {metric.unit}".rstrip()
            face = "#ffffff" if estimate else look.colour
            gid = tips.name(words + (", an estimate" if estimate else ""))
            style_of = {"marker": look.mark, "markersize": look.size, "color": look.colour, "markerfacecolor": face}
            axes.plot([x], [value], linestyle="", gid=gid, zorder=3, **style_of)
        for x, row in ours:
            if metric.of(row) is None and row["failures"]:
                failure = row["failures"][-1]
                gid = tips.name(f"{naming.label(row)}: {failure['sentence']}")
                colour = style.FAINT if failure["kind"] == "not finished" else style.ALARM
                place = {"transform": axes.get_xaxis_transform(), "clip_on": False, "zorder": 4}
                axes.plot([x], [0.04], "x", color=colour, markeredgewidth=2, gid=gid, **place)
    values = [value for row in rows if (value := metric.of(row)) is not None]
    for figure in _published(rows, metric.name) if not any(map(metric.is_estimate, rows)) else ():
        axes.axhline(figure.value, color=style.FAINT, linewidth=5, zorder=1, gid=tips.name(figure.source))
        under = {"xytext": (4, -6), "textcoords": "offset points", "va": "top", "xycoords": ("axes fraction", "data")}
        note = f"{figure.device}, {figure.citation}"
        axes.annotate(note, (0, figure.value), color=style.MUTED, fontsize=8, **under)
        values.append(figure.value)
    if metric.name == "tuples_per_cycle":
        values.append(2)
    unit = f" in {metric.unit}" if metric.unit and not metric.unit.startswith("/") else ""
    style.dress(axes, title=title, x=upper((naming.axis or "").replace("_", " ")), y=upper(f"{metric.label}{unit}"))
    style.along(axes, [x for x, _ in placed])
    style.upward(axes, values, wide=metric.name in ("luts", "ffs", "brams", "tuples_per_second", "tuples_per_cycle"))


def _published(rows: Sequence[dict], metric: str) -> Iterator[Published]:
    """What papers report of the designs of several points, all of which it is about."""
    for name in dict.fromkeys(row["design"] for row in rows):
        points = [row["parameters"] for row in rows if row["design"] == name]
        if name in installed() and any(point != points[0] for point in points):
            for figure in installed()[name].published:
                if figure.metric == metric and all(map(figure.applies, points)):
                    yield figure
