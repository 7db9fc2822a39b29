"""Plots of what simulations say: throughput against match rate with its limit, and how latencies are spread."""

from collections.abc import Sequence
from math import log10
from textwrap import wrap

from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel, Tips
from streamjoin.report.metrics import telling_run
from streamjoin.report.naming import in_words
from streamjoin.report.plots import Rows

_MOST_PANELS = 6
_MOST_LINES = 3  # of one series in one panel


def match_rate_chart(sweep: Rows) -> Chart | None:
    """A panel for each kind of windows and predicate, since the limit depends on them."""
    groups: dict[tuple, list[dict]] = {}
    for row in _once(sweep.rows):
        if len(_rated(row)) > 1:
            p = row["parameters"]
            windows = tuple(size for name, size in p.items() if name.startswith("window_") and size is not None)
            spans = tuple(span for name, span in p.items() if name.startswith("span") and span is not None)
            groups.setdefault((windows, spans, p["predicate"]), []).append(row)
    if not groups:
        return None
    chosen = _spread(sorted(groups), _MOST_PANELS)
    words = (
        "Tuples accepted a cycle as matches become more frequent. No design can do better than the grey band: two "
        "tuples in, and one result out, a cycle."
    )
    if len(chosen) < len(groups):
        words += f" {len(chosen)} of {len(groups)} kinds of windows are drawn; results.csv has them all."
    predicates = {predicate for *_, predicate in groups}
    panels = [Panel(_rate_drawer(sweep, _title(*key, several=len(predicates) > 1), groups[key])) for key in chosen]
    legend = sweep.legend([row for rows in groups.values() for row in rows])
    return Chart("match-rate", "Throughput against match rate", words, panels, legend)


def _title(windows: tuple[int, ...], spans: tuple[int, ...], predicate: str, several: bool) -> str:
    title = f"windows of {_each(windows)}" + (f", span {_each(spans)}" if spans else "")
    return title + (f", {predicate}" if several else "")


def _each(sizes: tuple[int, ...]) -> str:
    """Those of all streams, or the one that they share."""
    return " and ".join(map(str, sizes if len(set(sizes)) > 1 else sizes[:1]))


def _rate_drawer(sweep: Rows, title: str, rows: list[dict]):
    def draw(axes: Axes, tips: Tips) -> None:
        lowest = min(run["match_rate"] for row in rows for run in _rated(row) if run["match_rate"] > 0)
        zero = lowest / 10  # a match rate of 0 stands a step below the lowest
        widest = max(rows, key=lambda row: len(row["runs"]))
        limit = [(run["match_rate"] or zero, run["limit"]) for run in _rated(widest)]
        axes.plot(*zip(*limit, strict=True), color=style.FAINT, linewidth=7, solid_capstyle="round", zorder=1)
        labelled: list[float] = []
        for name, look in sweep.looks.items():
            ours = [row for row in rows if sweep.naming.series(row) == name]
            for row in _spread(sorted(ours, key=lambda row: sweep.naming.position(row) or 0), _MOST_LINES):
                points = [(run["match_rate"] or zero, run["tuples_per_cycle"]) for run in _rated(row)]
                axes.plot(*zip(*points, strict=True), color=look.colour, linewidth=look.width)
                for (x, y), run in zip(points, _rated(row), strict=True):
                    share = 100 * run["tuples_per_cycle"] / run["limit"]
                    gid = tips.name(
                        f"{sweep.naming.label(row)}, match rate {100 * run['match_rate']:g} %: {y:.3g} tuples/cycle, "
                        f"{share:.0f} % of the limit"
                    )
                    axes.plot(
                        [x], [y], linestyle="", marker=look.mark, markersize=look.size, color=look.colour, gid=gid
                    )
                # Lines that run together need one label.
                alone = all(abs(log10(points[0][1] / other)) > 0.08 for other in labelled)
                labelled.append(points[0][1])
                if len(ours) > 1 and sweep.naming.axis and alone:
                    words = in_words(sweep.naming.axis, sweep.naming.position(row))
                    shift = {"xytext": (2, 5), "textcoords": "offset points", "fontsize": 7.5}
                    axes.annotate(words, points[0], color=look.colour, **shift)
        style.dress(axes, title=title, x="Match rate", y="Tuples a cycle")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(top=4)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.minorticks_off()
        tens = [10.0**n for n in range(round(log10(lowest)), 1)]
        tens = tens[:: -(-len(tens) // 5)] if len(tens) > 5 else tens
        axes.set_xticks([zero, *tens], ["0", *(f"{100 * ten:g} %" for ten in tens)])

    return draw


def latency_chart(sweep: Rows) -> Chart | None:
    """A histogram for each series, of its row furthest along the axis."""
    last: dict[str, tuple[dict, dict]] = {}
    for row in sorted(_once(sweep.rows), key=lambda row: sweep.naming.position(row) or 0):
        if (run := telling_run(row)) is not None:
            last[sweep.naming.series(row)] = row, run
    chosen = _spread([last[name] for name in sweep.looks if name in last], _MOST_PANELS)
    if not chosen:
        return None
    words = (
        "Cycles from the acceptance of the later tuple of a pair to its result leaving, at the lowest match rate that "
        "has results enough, input offered as fast as it is taken, before a clock turns them into time. Lines mark the "
        "median and the 99th percentile."
    )
    if sweep.naming.axis:
        words += f" Of each series the one with the most {sweep.naming.axis.replace('_', ' ')}."
    return Chart("latency", "Latency", words, [Panel(_latency_drawer(sweep, row, run)) for row, run in chosen])


def _latency_drawer(sweep: Rows, row: dict, run: dict):
    def draw(axes: Axes, tips: Tips) -> None:
        colour = sweep.looks[sweep.naming.series(row)].colour
        counts, edges = run["latency_histogram"]["counts"], run["latency_histogram"]["edges"]
        shares = [100 * count / sum(counts) for count in counts]
        for left, right, share in zip(edges[:-1], edges[1:], shares, strict=True):
            # A bar a cycle wide covers that cycle; the gap between bars is drawn, not measured.
            gid = tips.name(f"{left} to {right - 1} cycles: {share:.3g} % of results")
            axes.bar(left, share, 0.9 * (right - left), align="edge", color=colour, alpha=0.75, gid=gid)
        for which, side, height in (("p50", "median", -9), ("p99", "99 %", -19)):
            at = run["latency_cycles"][which]
            axes.axvline(at, color=style.INK, linewidth=1)
            place = {"xy": (at, 1), "xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
            axes.annotate(f"{side} {at:.0f}", xytext=(3, height), fontsize=8, color=style.INK, **place)
        title = "\n".join(wrap(sweep.naming.label(row), 48))
        style.dress(axes, title=title, x=f"Latency in cycles (match rate {_percent(run)})", y="Results in %")
        axes.set_ylim(0, 1.18 * max(shares))
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))

    return draw


def _percent(run: dict) -> str:
    return "as it falls" if run["match_rate"] is None else f"{100 * run['match_rate']:g} %"


def _rated(row: dict) -> list[dict]:
    runs = [run for run in row["runs"] if run["match_rate"] is not None]
    return sorted(runs, key=lambda run: run["match_rate"])


def _once(rows: Sequence[dict]) -> list[dict]:
    """Rows that differ only in their target share their simulations."""
    return [row for row in rows if row["target"] == rows[0]["target"]]


def _spread(items: list, most: int) -> list:
    """At most so many, evenly chosen, the first and the last among them."""
    if len(items) <= most:
        return items
    return [items[round(n * (len(items) - 1) / (most - 1))] for n in range(most)]
