"""Roy et al. 2014, table 2: what a hash index in every core gains."""

from collections.abc import Mapping

from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import CLAIM
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.report.reproduce.measuring.chains import HANDSHAKE, INDEXED, LOW_LATENCY, cycles_per_pair, simulate

#: Tuples a second.
PAPER = {HANDSHAKE: 5125, LOW_LATENCY: 5117, INDEXED: 225_234}
CORES, SHARE = 40, 1024
HIT_RATE = 1 / 250_000
#: The paper's index gains 44 times.
GAIN = 40


def measure(
    settings: EntrySettings, *, cores: int = CORES, share: int = SHARE, scanned: int = 1000, indexed: int = 120_000
) -> dict:
    """Cycles a pair: of a scan over a run of any length, of the index with full windows."""
    window = cores * share
    points = []
    for chain in PAPER:
        # A scan takes a tuple whenever a whole window could have been compared, however full it is.
        full = chain == INDEXED
        tuples = indexed if full else scanned
        settings.progress(f"{chain}, {cores} cores, windows of {window}, {tuples} tuples")
        simulation = simulate(chain, {"cores": cores, "window": window}, tuples, HIT_RATE)
        pace = cycles_per_pair(simulation, slice(2 * window if full else 0, None))
        points.append({"chain": chain, "tuples": tuples, "results": len(simulation.numbers), "cycles_per_pair": pace})
    return {"cores": cores, "window": window, "points": points}


def throughputs(data: dict) -> dict[str, float]:
    """Tuples of both streams in a thousand cycles."""
    return {point["chain"]: 2000 / point["cycles_per_pair"] for point in data["points"]}


def gain(found: Mapping[str, float]) -> float:
    """How many times the throughput of the faster scan."""
    return found[INDEXED] / max(found[HANDSHAKE], found[LOW_LATENCY])


def judge(data: dict) -> Verdict:
    found = throughputs(data)
    because = (
        f"the index takes {gain(found):.0f} times as many tuples as a scan, the paper's {gain(PAPER):.0f} times; in a "
        f"thousand cycles {', '.join(f'{value:.3g}' for value in found.values())}"
    )
    return Verdict(gain(found) >= GAIN, because)


def table(data: dict) -> Table:
    found = throughputs(data)
    rows = [
        (
            *(point["chain"], f"{PAPER[point['chain']]:,}", f"{found[point['chain']]:.3f}"),
            f"{point['cycles_per_pair']:,.1f}",
            *(f"{each[point['chain']] / each[HANDSHAKE]:.3f}" for each in (PAPER, found)),
        )
        for point in data["points"]
    ]
    return Table(("", "paper, tuples/s", "ours, tuples/kilocycle", "cycles a pair", "paper, relative", "ours"), rows)


def chart(data: dict) -> Chart:
    short = {HANDSHAKE: "handshake", LOW_LATENCY: "low-latency", INDEXED: "low-latency,\nhash index"}
    # Both panels span the same range, so that bars can be compared from one to the other.
    highest = max(value / each[HANDSHAKE] for each in (PAPER, throughputs(data)) for value in each.values())

    def bars(title, y, found, colours):
        def draw(axes, _):
            base = found[HANDSHAKE]
            axes.bar(range(len(found)), list(found.values()), width=0.6, color=colours, zorder=2)
            for place, value in enumerate(found.values()):
                axes.annotate(
                    f"{value:.4g}" + (f"\n× {value / base:.4g}" if place else ""),
                    (place, value),
                    xytext=(0, 3),
                    textcoords="offset points",
                    ha="center",
                    fontsize=9,
                    color=style.INK,
                )
            style.dress(axes, title=title, x="", y=y)
            style.upward(axes, [base / 2, base * highest], wide=True)
            axes.set_ylim(base / 3, 6 * base * highest)
            axes.set_xticks(range(len(found)), [short[chain] for chain in found])
            axes.grid(axis="x", visible=False)

        return Panel(draw)

    theirs = {chain: value / 1000 for chain, value in PAPER.items()}
    colours = list(style.COLOURS[: len(PAPER)])
    panels = [
        bars("Paper, 40 cores, 15 min", "Thousand tuples a second", theirs, [CLAIM] * len(PAPER)),
        bars(
            f"Ours, {data['cores']} cores, windows of {data['window']:,}",
            "Tuples in 1000 cycles",
            throughputs(data),
            colours,
        ),
    ]
    return Chart(ENTRY.name, f"Throughput with a hash index ({ENTRY.source})", ENTRY.claim, panels)


ENTRY = Entry(
    name="002-table-2",
    where="table 2",
    title="Throughput with a hash index in every core",
    claim=(
        "With 40 cores and windows of 15 minutes handshake join takes 5125 tuples a second, low-latency handshake join "
        "5117, and with a hash table in each core 225,234: 44 times as many."
    ),
    rule=f"With an index, throughput is at least {GAIN} times that of the faster of both scans.",
    differs=(
        f"Windows of {CORES * SHARE:,} tuples for all three, {SHARE:,} in each core: a scan takes a cycle for each, an "
        "index about eight for a pair, so that the gain grows with the window. The paper's windows last 15 minutes at "
        "any rate: its index has 44 times as many tuples to search, and what it gains depends on caches and on how "
        "many tuples match, which is not told. Ours is an equi-join with 1 : 250,000 hits. Scans are measured on a few "
        "tuples: their pace is that of full windows from the first tuple on."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
