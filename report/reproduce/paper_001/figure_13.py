"""Oge et al. 2011, figure 13: handshake join takes more tuples than a nested loop, until too many match."""

from streamjoin.report import style
from streamjoin.report.charts import Chart
from streamjoin.report.reproduce.framework.entry import Entry, Table, Verdict
from streamjoin.report.reproduce.measuring import throughput
from streamjoin.report.reproduce.measuring.throughput import BASELINE, PAPER, STREAMING, per_second


def crossover(buffer: dict) -> float | None:
    """The lowest match rate at which the nested loop takes more tuples than the paper's handshake join."""
    pairs = zip(buffer["series"][PAPER], buffer["series"][BASELINE], strict=True)
    return next((ours["match_rate"] for ours, loop in pairs if ours["cycles"] > loop["cycles"]), None)


def judge(data: dict) -> Verdict:
    told, holds = [], True
    for buffer in data["buffers"]:
        ours, loop, streaming = (
            per_second(data, buffer["series"][name], "tuples") for name in (PAPER, BASELINE, STREAMING)
        )
        holds &= ours[0] > loop[0] and ours[-1] < loop[-1]
        at = crossover(buffer)
        told.append(
            f"{buffer['inputs']} tuples: {ours[0]:.2f} against {loop[0]:.2f} M tuples/s without matches, "
            f"{ours[-1]:.3f} against {loop[-1]:.3f} if all match, "
            + (f"overtaken from {100 * at:g} % on" if at is not None else "never overtaken")
            + f" (streaming mergers: at least {min(a / b for a, b in zip(streaming, loop, strict=True)):.2f} times)"
        )
    return Verdict(holds, "; ".join(told))


def table(data: dict) -> Table:
    rows = []
    for buffer in data["buffers"]:
        lines = [per_second(data, points, "tuples") for points in buffer["series"].values()]
        for point, *values in zip(buffer["series"][PAPER], *lines, strict=True):
            rate = f"{100 * point['match_rate']:g}"
            rows.append((str(buffer["inputs"]), rate, *(f"{value:.3f}" for value in values)))
    head = ("tuples", "match %", *(f"{name}, M tuples/s" for name in data["buffers"][0]["series"]))
    return Table(head, rows)


def chart(data: dict) -> Chart:
    def mark(axes, buffer):
        values = [each for points in buffer["series"].values() for each in per_second(data, points, "tuples")]
        style.upward(axes, values, wide=True)
        axes.set_ylim(top=2.5 * max(values))
        at = crossover(buffer)
        words = "paper: the nested loop wins\nonce the match rate is high enough"
        if at is not None:
            axes.axvspan(100 * at, 102, color=style.GRID, zorder=0)
            words += f";\nours: from {100 * at:g} % on"
        axes.annotate(
            words, (0.97, 0.96), xycoords="axes fraction", ha="right", va="top", fontsize=8.5, color=style.MUTED
        )

    heading = f"Input against match rate ({ENTRY.source})"
    return throughput.chart(data, "tuples", ENTRY.name, heading, ENTRY.claim, mark)


ENTRY = Entry(
    name="001-figure-13",
    where="figure 13",
    title="Input throughput against match rate, beside a nested loop",
    claim=(
        "With 64 cores at 100 MHz and windows of 512, handshake join takes in more tuples than a nested loop while few "
        "match, and fewer once the match rate is high enough, since admission control halts all cores at once. (Its "
        "values are lost with the figure.)"
    ),
    rule=(
        "The paper's handshake join is ahead of the nested loop at the lowest match rate and behind it at the highest; "
        "for buffers of 512 and of 1024 tuples a stream."
    ),
    differs=(
        "Simulated, draining included, tuples of both streams counted; the nested loop is ours, the paper's is an "
        "estimate. Streaming mergers are not in the paper."
    ),
    measure=throughput.measure,
    judge=judge,
    table=table,
    chart=chart,
)
