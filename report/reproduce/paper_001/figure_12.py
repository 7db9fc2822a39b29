"""Oge et al. 2011, figure 12: the more tuples match, the less the output still gains."""

from itertools import pairwise

from streamjoin.report import style
from streamjoin.report.charts import Chart
from streamjoin.report.reproduce.framework.entry import Entry, Table, Verdict
from streamjoin.report.reproduce.measuring import throughput
from streamjoin.report.reproduce.measuring.throughput import PAPER, per_second

#: The last part of the range gains at most this share of what the first gains, for the same added match rate.
LESSENED = 0.5
#: Output may fall by so much between two match rates before that counts.
NOISE = 0.02


def gains(data: dict, points: list[dict]) -> tuple[float, float]:
    """Million results a second for each per cent of match rate: from 0 to the first rate above 0, and at the end."""
    output = per_second(data, points, "results")
    rates = [100 * point["match_rate"] for point in points]
    slopes = [(output[n + 1] - output[n]) / (rates[n + 1] - rates[n]) for n in (0, len(points) - 2)]
    return slopes[0], slopes[1]


def judge(data: dict) -> Verdict:
    told, holds = [], True
    for buffer in data["buffers"]:
        points = buffer["series"][PAPER]
        output = per_second(data, points, "results")
        first, last = gains(data, points)
        rises = all(later >= (1 - NOISE) * earlier for earlier, later in pairwise(output))
        holds &= rises and last <= LESSENED * first
        told.append(
            f"{buffer['inputs']} tuples: {first:.3g} M results/s more for each % at first, {last:.3g} at last, "
            f"{output[-1]:.1f} in all" + ("" if rises else ", and output falls in between")
        )
    return Verdict(holds, "; ".join(told))


def table(data: dict) -> Table:
    rows = []
    for buffer in data["buffers"]:
        lines = [per_second(data, points, "results") for points in buffer["series"].values()]
        for point, *values in zip(buffer["series"][PAPER], *lines, strict=True):
            rate = f"{100 * point['match_rate']:g}"
            rows.append((str(buffer["inputs"]), rate, *(f"{value:.2f}" for value in values)))
    head = ("tuples", "match %", *(f"{name}, M results/s" for name in data["buffers"][0]["series"]))
    return Table(head, rows)


def chart(data: dict) -> Chart:
    def mark(axes, buffer):
        points = buffer["series"][PAPER]
        first, _ = gains(data, points)
        top = axes.get_ylim()[1]
        axes.plot([0, top / first], [0, top], color=style.FAINT, linewidth=5, zorder=1)
        axes.annotate(
            "grey: as at first;\npaper: output gains\nless and less",
            (0.97, 0.04),
            xycoords="axes fraction",
            ha="right",
            fontsize=8.5,
            color=style.MUTED,
        )

    heading = f"Output against match rate ({ENTRY.source})"
    return throughput.chart(data, "results", ENTRY.name, heading, ENTRY.claim, mark)


ENTRY = Entry(
    name="001-figure-12",
    where="figure 12",
    title="Output throughput against match rate",
    claim=(
        "With 64 cores at 100 MHz, windows of 512 and queues of 8 and 4, output grows more and more slowly as the "
        "match rate rises, because full queues make admission control interrupt the input. (Its values are lost with "
        "the figure.)"
    ),
    rule=(
        f"Output never falls by more than {100 * NOISE:g} % as the match rate rises, and for the same added match rate "
        f"it gains at the end at most {100 * LESSENED:g} % of what it gains at first; for buffers of 512 and of 1024."
    ),
    differs="Simulated, draining included; the nested loop is ours. Streaming mergers are not in the paper.",
    measure=throughput.measure,
    judge=judge,
    table=table,
    chart=chart,
)
