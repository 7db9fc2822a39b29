"""Najafi et al. 2018, figure 7: input throughput against tuples received, for three to eight streams."""

from itertools import pairwise

from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import claim_line
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.report.reproduce.measuring.multiway import course, simulate, steady_rate

STREAMS = (3, 4, 5, 6, 7, 8)
WINDOW, LANES, FLIGHT, MHZ = 1 << 14, 64, 64, 100
#: Match probabilities of 7a to 7c; the text gives the last one.
NONE, LOW, HIGH = 0.0, 1e-5, 1e-4
#: How exactly throughput has to grow with the streams; what still counts as a little less; what as much less.
LINEAR, SMALL, MUCH = 0.05, 0.75, 0.5


def measure(
    settings: EntrySettings, *, streams: tuple[int, ...] = STREAMS, window: int = WINDOW, lanes: int = LANES
) -> dict:
    """A run for each number of streams and match probability: until all windows are full, and half a window more.

    A core of the ring is a stage: the user's core counts are numbers of streams. Probabilities keep their ratio to
    1/window, whatever the window.
    """
    runs = []
    for match_rate in (NONE, LOW, HIGH):
        for count in settings.cores or streams:
            rate = match_rate * WINDOW / window
            settings.progress(f"{count} streams, match probability {rate:g}")
            given = {"streams": count, "window": window, "lanes": lanes, "flight": FLIGHT}
            simulation = simulate("circular", given, rate, count * window + FLIGHT + window // 2)
            runs.append(
                {
                    "streams": count,
                    "match_rate": rate,
                    "steady": steady_rate(simulation),
                    "course": course(simulation),
                    "results": len(simulation.numbers),
                    "cycles": simulation.run.cycles,
                    "seconds": simulation.run.seconds,
                }
            )
    return {"window": window, "lanes": lanes, "runs": runs}


def rates(data: dict) -> list[float]:
    """The match probabilities, the lowest first."""
    return sorted({run["match_rate"] for run in data["runs"]})


def by_streams(data: dict, match_rate: float) -> dict[int, float]:
    """Tuples a cycle with full windows, by the number of streams."""
    return {run["streams"]: run["steady"] for run in data["runs"] if run["match_rate"] == match_rate}


def kept(data: dict, match_rate: float) -> dict[int, float]:
    """The share of the throughput without matches that is left, by the number of streams."""
    whole = by_streams(data, rates(data)[0])
    return {count: rate / whole[count] for count, rate in by_streams(data, match_rate).items()}


def warm_up(data: dict) -> float:
    """How many times the steady throughput is taken at first, at least, where nothing matches."""
    none = rates(data)[0]
    runs = [run for run in data["runs"] if run["match_rate"] == none]
    return min(run["course"][0]["tuples_per_cycle"] / run["steady"] for run in runs)


def judge(data: dict) -> Verdict:
    none, low, high = rates(data)
    per_stream = {count: rate / count for count, rate in by_streams(data, none).items()}
    spread = max(per_stream.values()) / min(per_stream.values()) - 1
    busy = min(per_stream.values()) * data["window"] / data["lanes"]
    left_low, left_high = kept(data, low), kept(data, high)
    counts = sorted(left_high)
    falls = all(left_high[a] > left_high[b] for a, b in pairwise(counts))
    few, many = counts[0], counts[-1]
    reasons = [
        (spread <= LINEAR, f"tuples a cycle and stream differ by {100 * spread:.2f} % from {few} to {many} streams"),
        (busy >= 1 - LINEAR, f"every stage compares in at least {100 * busy:.1f} % of all cycles"),
        (warm_up(data) > 2, f"at first at least {warm_up(data):.1f} times as much is taken"),
        (
            min(left_low.values()) >= SMALL,
            f"match probability {low:g} leaves {100 * min(left_low.values()):.0f} % or more",
        ),
        (
            max(left_high.values()) <= MUCH and falls,
            f"{high:g} leaves {100 * left_high[few]:.0f} % with {few}, {100 * left_high[many]:.1f} % with {many}",
        ),
    ]
    return Verdict(all(good for good, _ in reasons), "; ".join(words for _, words in reasons))


def table(data: dict) -> Table:
    found = rates(data)
    head = (
        "streams",
        "N × lanes / window",
        *(f"ours, tuples a cycle at {rate:g}" for rate in found),
        "left at the last",
    )
    rows = []
    for count in sorted(by_streams(data, found[0])):
        values = [by_streams(data, rate)[count] for rate in found]
        bound = count * data["lanes"] / data["window"]
        rows.append(
            (str(count), f"{bound:.5f}", *(f"{value:.5f}" for value in values), f"{100 * values[-1] / values[0]:.1f} %")
        )
    return Table(head, rows)


def chart(data: dict) -> Chart:
    names = {count: f"{count} streams" for count in sorted({run["streams"] for run in data["runs"]})}
    looks = style.looks(list(names.values()))

    def panel(match_rate):
        def draw(axes, _):
            for run in (run for run in data["runs"] if run["match_rate"] == match_rate):
                look = looks[names[run["streams"]]]
                at = [point["tuples"] / 1e3 for point in run["course"]]
                values = [MHZ * point["tuples_per_cycle"] for point in run["course"]]
                axes.plot(at, values, color=look.colour, linewidth=1.6, marker=look.mark, markersize=4, markevery=6)
                if match_rate == rates(data)[0]:
                    axes.axvline(run["streams"] * data["window"] / 1e3, color=style.GRID, linestyle="--", zorder=0)
            most = max(names)
            bound = MHZ * most * data["lanes"] / data["window"]
            claim_line(axes, bound, f"{most} × lanes / window")
            style.dress(
                axes,
                title=f"Match probability {match_rate:g}",
                x="Thousand tuples received",
                y="Million tuples a second",
            )
            axes.set_yscale("log")

        return Panel(draw)

    heading = (
        f"Input throughput at {MHZ} MHz, windows of {data['window']}, {data['lanes']} comparisons a cycle and stage"
    )
    return Chart(ENTRY.name, heading, ENTRY.claim, [panel(rate) for rate in rates(data)], looks)


ENTRY = Entry(
    name="004-figure-7",
    where="figure 7",
    title="Throughput of circular multi-way joins against tuples received",
    claim=(
        "With windows of 2^14 and hardly any match, throughput grows linearly with the number of streams, three to "
        "eight; before all windows are full it is higher and falls. A somewhat higher match probability costs little, "
        "one of 0.01 % much, and the less the fewer streams there are."
    ),
    rule=(
        f"With full windows and no match, tuples a cycle and stream differ by no more than {100 * LINEAR:g} % from the "
        f"fewest streams to the most, and every stage is busy in at least {100 - 100 * LINEAR:g} % of all cycles; at "
        f"first more than twice as many tuples are taken. A match probability of {LOW:g} leaves at least "
        f"{100 * SMALL:g} % of that; {HIGH:g} leaves no more than {100 * MUCH:g} %, and less with each further stream."
    ),
    differs=(
        f"The paper does not say how many comparisons a stage makes in a cycle; ours makes {LANES}. Its text gives "
        "only the last of the three match probabilities. Its design drops intermediate results where a buffer is too "
        "full, and so is spared their comparisons; ours gives every result, checked against the reference."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
