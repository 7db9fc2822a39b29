"""Roy et al. 2014, figure 5: how long a result of handshake join waits follows from its windows."""

import numpy as np

from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import claim_line
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.report.reproduce.measuring.chains import HANDSHAKE, SPAN, figures, simulate_windows, window
from streamjoin.sim.run.simulate import Simulation

CORES = 40
#: What the model says of the paper's windows, in seconds: of 200 s both, and of 100 and 200 s.
PAPER = ("100", "66.6")
#: What the paper calls slightly below the model.
NEARLY = 0.9
POINTS = 60
AVERAGE, MAXIMUM = "average, with standard deviation", "maximum"


def measure(settings: EntrySettings, *, cores: int = CORES, span: int = SPAN) -> dict:
    """A run with equal windows, and one with that of R half as long."""
    size, runs = window(cores, span), []
    for window_r in (size, size // 2):
        settings.progress(f"{cores} cores, windows of {window_r} and {size}")
        simulation = simulate_windows(HANDSHAKE, cores, window_r, size)
        runs.append({**figures(simulation), "course": course(simulation)})
    return {"runs": runs}


def course(simulation: Simulation, points: int = POINTS) -> list[dict]:
    """Latencies in the course of a run up to its last arrival; each point stands for as many results in a row."""
    cycles = simulation.run.result_cycle
    count = np.searchsorted(cycles, simulation.run.accepted_cycle[-1])
    groups = [np.array_split(column[:count], min(points, count)) for column in (cycles, simulation.latencies)]
    return [
        {
            "cycle": int(left[-1]),
            "mean": float(waited.mean()),
            "deviation": float(waited.std()),
            "max": int(waited.max()),
        }
        for left, waited in zip(*groups, strict=True)
    ]


def bound(run: dict) -> float:
    """Equation 8 in cycles: windows last as long as it takes that many pairs of tuples to come."""
    r, s = run["window_r"], run["window_s"]
    return r * s / (r + s) * run["cycles_per_pair"]


def segment(run: dict) -> float:
    """How long the longer window's share of one core lasts, in cycles."""
    return max(run["window_r"], run["window_s"]) / run["cores"] * run["cycles_per_pair"]


def judge(data: dict) -> Verdict:
    told, holds = [], True
    for run in data["runs"]:
        model, highest = bound(run), run["latency"]["max"]
        holds &= NEARLY * model <= highest <= model + segment(run)
        told.append(
            f"windows of {run['window_r']} and {run['window_s']}: at most {highest:,} cycles, "
            f"{100 * highest / model:.1f} % of the model's {model:,.0f}, and {run['latency']['mean']:,.0f} on average"
        )
    return Verdict(holds, "; ".join(told))


def table(data: dict) -> Table:
    head = (
        *("windows", "paper's model, s", "cycles a pair", "model, cycles", "maximum", "average"),
        *("maximum / model", "average / model"),
    )
    rows = [
        (
            f"{run['window_r']}, {run['window_s']}",
            theirs,
            f"{run['cycles_per_pair']:.1f}",
            f"{bound(run):,.0f}",
            f"{run['latency']['max']:,}",
            f"{run['latency']['mean']:,.0f}",
            f"{run['latency']['max'] / bound(run):.3f}",
            f"{run['latency']['mean'] / bound(run):.3f}",
        )
        for theirs, run in zip(PAPER, data["runs"], strict=True)
    ]
    return Table(head, rows)


def chart(data: dict) -> Chart:
    looks = style.looks([AVERAGE, MAXIMUM])
    highest = max(bound(run) for run in data["runs"])

    def panel(run):
        def draw(axes, _):
            at = [point["cycle"] / 1e6 for point in run["course"]]
            mean, deviation, most = (
                np.array([point[name] for point in run["course"]]) / 1e3 for name in ("mean", "deviation", "max")
            )
            axes.axvspan(*(cycle / 1e6 for cycle in run["steady_cycles"]), color=style.GRID, alpha=0.6, zorder=0)
            shade = {"color": looks[AVERAGE].colour, "alpha": 0.2, "linewidth": 0}
            axes.fill_between(at, mean - deviation, mean + deviation, **shade)
            for values, look in ((mean, looks[AVERAGE]), (most, looks[MAXIMUM])):
                axes.plot(at, values, color=look.colour, linewidth=1.6, marker=look.mark, markersize=4, markevery=5)
            claim_line(axes, bound(run) / 1e3, f"model: {bound(run) / 1e3:,.0f}")
            title = f"Windows of {run['window_r']} and {run['window_s']} tuples"
            style.dress(axes, title=title, x="Million cycles since the first tuple", y="Latency in thousand cycles")
            axes.set_xlim(0, at[-1])
            axes.set_ylim(0, 1.15 * highest / 1e3)

        return Panel(draw)

    heading = f"Latency of handshake join, {data['runs'][0]['cores']} cores; grey: what counts ({ENTRY.source})"
    return Chart(ENTRY.name, heading, ENTRY.claim, [panel(run) for run in data["runs"]], looks)


ENTRY = Entry(
    name="002-figure-5",
    where="figure 5",
    title="Latency of handshake join against its model",
    claim=(
        "A result of handshake join waits less than |W_R| × |W_S| / (|W_R| + |W_S|), since the two tuples have to "
        "travel towards each other. With 40 cores latency rises while windows fill, and then its maximum stays "
        "slightly below that: 100 s for windows of 200 s, 66.6 s for windows of 100 and 200 s."
    ),
    rule=(
        f"With full windows, equal ones and such of 1 : 2, the maximum is at least {100 * NEARLY:g} % of the model and "
        "exceeds it by no more than one core's share of the longer window, which is as finely as a chain of cores "
        "can tell where tuples meet."
    ),
    differs=(
        "Windows count tuples, which come in turns, as fast as they are taken; the model's windows last as long as it "
        "takes so many tuples to come. Lock step instead of threads, cycles instead of seconds, an equi-join in which "
        "a tuple finds some ten partners. In lock step tuples move on only as others push them: while windows fill, "
        "those that meet at all have gone half way, and the average falls to its steady value where the paper's rises. "
        "With equal windows and an even number of cores two tuples that come together meet at a boundary of cores, "
        "just half way: the maximum reaches the model. The drain, which goes faster, does not count."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
