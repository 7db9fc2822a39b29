"""Teubner and Mueller 2011, table 1: the same rate from few fast cores or from many slow ones."""

from streamjoin.hdl.registry import find
from streamjoin.reference.errors import DesignError
from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import series
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.sim.run.match_rate import measure as simulate
from streamjoin.sim.run.simulate import Simulator

#: The paper's clocks in MHz, by cores.
CLOCKS = {1: 50, 2: 25, 5: 10, 10: 5}
WINDOW = 100
RATE = 0.5  # million tuples a second
#: Cycles that our core spends on a pair besides comparing, each stream's share of them a tuple.
OVERHEAD = 5 / 2
TOLERANCE = 0.01


def measure(settings: EntrySettings, *, window: int = WINDOW, cores: tuple[int, ...] = tuple(CLOCKS)) -> dict:
    """Cycles a tuple with full windows: of two runs, what the longer one takes more."""
    design = find("handshake")
    points = []
    for count in cores:
        settings.progress(f"{count} cores, windows of {window}")
        parameters = design.parameters(cores=count, window=window, scan="sequential")
        simulator = Simulator.build(design, parameters)
        short, long = (simulate(simulator, [0], lambda _, n=n: n)[0] for n in (4 * window, 12 * window))
        if not (short.exact and long.exact):
            raise DesignError(f"handshake with {count} cores gives another result than the reference")
        tuples, cycles = long.tuples - short.tuples, long.cycles - short.cycles
        points.append({"cores": count, "tuples": tuples, "cycles": cycles, "cycles_per_tuple": cycles / tuples})
    return {"window": window, "rate_mtuples": RATE, "points": points}


def needed(data: dict, point: dict) -> float:
    """The clock in MHz for the rate, both streams together."""
    return data["rate_mtuples"] * point["cycles_per_tuple"]


def constant(data: dict, point: dict, overhead: float = 0) -> float:
    """Clock × cores / (rate × window), which the law says is 1; ``overhead`` is taken off the cycles of a tuple."""
    return (point["cycles_per_tuple"] - overhead) * point["cores"] / data["window"]


def judge(data: dict) -> Verdict:
    bare = [constant(data, point, OVERHEAD) for point in data["points"]]
    full = [constant(data, point) for point in data["points"]]
    because = (
        f"clock × cores / (rate × window) is {min(full):.3f} to {max(full):.3f}, and {min(bare):.3f} to "
        f"{max(bare):.3f} once the {OVERHEAD:g} cycles a tuple that do not compare are taken off"
    )
    return Verdict(all(abs(each - 1) <= TOLERANCE for each in bare), because)


def table(data: dict) -> Table:
    head = ("cores", "paper, MHz", "ours, MHz", "ours, a stream", "cycles a tuple", "constant", "less overhead")
    rows = [
        (
            str(point["cores"]),
            f"{CLOCKS.get(point['cores'], data['rate_mtuples'] * data['window'] / point['cores']):g}",
            f"{needed(data, point):.2f}",
            f"{2 * needed(data, point):.2f}",
            f"{point['cycles_per_tuple']:.2f}",
            f"{constant(data, point):.3f}",
            f"{constant(data, point, OVERHEAD):.3f}",
        )
        for point in data["points"]
    ]
    return Table(head, rows)


def chart(data: dict) -> Chart:
    cores = [point["cores"] for point in data["points"]]
    law = [data["rate_mtuples"] * data["window"] / count for count in cores]
    ours = [needed(data, point) for point in data["points"]]
    looks = style.looks(["ours, simulated"])

    def draw(axes, _):
        axes.plot(cores, law, color=style.FAINT, linewidth=7, solid_capstyle="round", zorder=1)
        axes.annotate(
            f"paper: {', '.join(f'{mhz:g}' for mhz in law)} MHz,\nrate × window = clock × cores",
            (0.03, 0.06),
            xycoords="axes fraction",
            fontsize=8.5,
            color=style.MUTED,
        )
        series(axes, cores, ours, looks["ours, simulated"])
        for count, mhz in zip(cores, ours, strict=True):
            axes.annotate(
                f"{mhz:.2f}", (count, mhz), xytext=(5, 5), textcoords="offset points", fontsize=8.5, color=style.INK
            )
        style.dress(axes, title=f"500 k tuples a second, windows of {data['window']}", x="Cores", y="Clock in MHz")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlim(min(cores) / 1.15, max(cores) * 1.25)
        axes.set_xticks(cores, map(str, cores))
        axes.set_yticks(law, [f"{mhz:g}" for mhz in law])
        axes.minorticks_off()

    heading = f"The clock that a rate needs ({ENTRY.source})"
    return Chart(ENTRY.name, heading, ENTRY.claim, [Panel(draw)], looks)


ENTRY = Entry(
    name="000-table-1",
    where="table 1",
    title="Rate × window = clock × cores",
    claim=(
        "500 k tuples a second with two windows of 100 tuples take 1, 2, 5 or 10 cores at 50, 25, 10 or 5 MHz: "
        "rate × window = clock × cores."
    ),
    rule=(
        f"In simulation, clock × cores / (rate × window) is 1 within {100 * TOLERANCE:g} % at every number of cores, "
        f"once the documented {OVERHEAD:g} cycles a tuple (5 a pair) that our core spends besides comparing are taken "
        "off: the law is one of comparisons, and this is what a clock adds to it."
    ),
    differs=(
        "Our sequential core has one comparator for both scans: a pair costs segment_r + segment_s + 5 cycles. So the "
        "law holds for the tuples of both streams together; for 500 k tuples a second of each stream the clock is "
        "twice that. The paper does not say which of the two it means, nor how many cycles pass without a comparison."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
