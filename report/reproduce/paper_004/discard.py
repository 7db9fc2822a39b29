"""Najafi et al. 2018, section II: intermediate results that are dropped where many wait, and what that costs."""

from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import claim_line, series
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.report.reproduce.measuring.multiway import simulate, steady_rate

STREAMS, WINDOW, LANES, FLIGHT, BUFFER = 4, 1024, 16, 64, 16
#: Matches that a tuple finds in a window, on average; the highest of figure 7 is 1.64.
MATCHES = (0.1, 0.25, 0.5, 1.0, 1.64, 2.5)
#: From how many waiting intermediate results on further ones are dropped.
LOSSLESS = "lossless"
THRESHOLDS = {LOSSLESS: None, "three quarters full": 12, "a quarter full": 4}
#: What may be lost, as a share of all results, where hardly anything is.
LITTLE = 0.01
FIGURE_7 = 1.64


def measure(
    settings: EntrySettings, *, window: int = WINDOW, lanes: int = LANES, matches: tuple[float, ...] = MATCHES
) -> dict:
    """Tuples a cycle, results, and what was dropped, by threshold and matches of a tuple."""
    points = []
    for name, threshold in THRESHOLDS.items():
        for count in matches:
            settings.progress(f"{name}, {count:g} matches a window")
            given = {"streams": STREAMS, "window": window, "lanes": lanes, "flight": FLIGHT, "buffer": BUFFER}
            given |= {} if threshold is None else {"discard": threshold}
            tuples = STREAMS * window + FLIGHT + STREAMS * window // 2
            simulation = simulate("circular", given, count / window, tuples, loses=threshold is not None)
            points.append(
                {
                    "threshold": name,
                    "matches": count,
                    "steady": steady_rate(simulation),
                    "results": len(simulation.numbers),
                    "missing": len(simulation.known_difference.missing),
                    "dropped": simulation.run.lost,
                }
            )
    return {"window": window, "points": points}


def by_matches(data: dict, threshold: str) -> dict[float, dict]:
    """The points of a threshold, by matches."""
    return {point["matches"]: point for point in data["points"] if point["threshold"] == threshold}


def lost(point: dict) -> float:
    """The share of results that is missing."""
    return point["missing"] / max(1, point["results"] + point["missing"])


def gain(data: dict, point: dict) -> float:
    """How many times the lossless ring's tuples a cycle are taken."""
    return point["steady"] / by_matches(data, LOSSLESS)[point["matches"]]["steady"]


def judge(data: dict) -> Verdict:
    within = [point for point in data["points"] if point["matches"] <= FIGURE_7]
    worst = max(within, key=lost)
    words = [f"up to {100 * lost(worst):.0f} % of the results are lost ({worst['threshold']}, {worst['matches']:g})"]
    words.append(f"for {gain(data, worst):.2f} times the throughput")
    return Verdict(lost(worst) <= LITTLE, ", ".join(words))


def table(data: dict) -> Table:
    dropping = [name for name in THRESHOLDS if name != LOSSLESS]
    head = ["matches a window", "lossless, tuples a thousand cycles"]
    for name in dropping:
        head += [f"{name}: times that", "dropped", "results lost"]
    rows = []
    for count, whole in by_matches(data, LOSSLESS).items():
        row = [f"{count:g}", f"{1000 * whole['steady']:.2f}"]
        for name in dropping:
            point = by_matches(data, name)[count]
            row += [f"{gain(data, point):.2f}", f"{point['dropped']:,}", f"{100 * lost(point):.1f} %"]
        rows.append(tuple(row))
    return Table(tuple(head), rows)


def chart(data: dict) -> Chart:
    looks = style.looks([name for name in THRESHOLDS if name != LOSSLESS])

    def panel(title, y, value, lossless, bottom):
        def draw(axes, _):
            for name, look in looks.items():
                points = by_matches(data, name)
                series(axes, list(points), [value(point) for point in points.values()], look)
            claim_line(axes, lossless, LOSSLESS)
            style.dress(axes, title=title, x="Matches of a tuple in a window", y=y)
            axes.set_ylim(bottom=bottom)

        return Panel(draw)

    panels = [
        panel("What is lost", "Share of the results, %", lambda point: 100 * lost(point), 0, -10),
        panel("What is gained", "Times as many tuples a cycle", lambda point: gain(data, point), 1, 0),
    ]
    heading = f"Intermediate results dropped: {STREAMS} streams, windows of {data['window']}, buffers of {BUFFER}"
    return Chart(ENTRY.name, heading, ENTRY.claim, panels, looks)


ENTRY = Entry(
    name="004-discard",
    where="section II",
    title="Circular multi-way join that drops intermediate results",
    claim=(
        "An intermediate result is dropped where the buffer of a stage is filled beyond a threshold, so that the ring "
        "cannot deadlock. The paper does not say how many results that costs."
    ),
    rule=(
        f"Up to {FIGURE_7:g} matches a window, the most of figure 7, no more than {100 * LITTLE:g} % of the results "
        "are lost with either threshold."
    ),
    differs=(
        f"The paper gives no threshold; we show two, of buffers of {BUFFER} for each depth. Ours needs none: with a "
        "scan for each depth the ring cannot deadlock, and loses nothing. What comes out in spite of the drops is "
        "checked to be part of the join, each result once."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
