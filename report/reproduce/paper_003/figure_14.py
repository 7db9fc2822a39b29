"""Pan and Jacobsen 2018, figure 14: the engines of BI-Sort in hardware, beside the three structures in software.

The hardware is simulated with a subwindow a 128th as large, and with batches and an index as much smaller. A step costs
cycles for each tuple of the subwindow and of the batch, and a few that do not depend on either; so at the same ratio of
batch to subwindow a larger one takes at least as many tuples a second.
"""

from functools import partial

import numpy as np

from streamjoin.reference.errors import DesignError
from streamjoin.reference.panjoin.probe import Probe
from streamjoin.reference.predicates import parse_predicate
from streamjoin.report import style
from streamjoin.report.bench.bisort_bench import DDR3, simulator, steps
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import claim_between
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.report.reproduce.measuring.subwindows import (
    BI_SORT,
    RAP_TABLE,
    WIB_TREE,
    brief,
    check,
    contestants,
    draw_rates,
    insertion_rate,
    seconds,
    series_of,
    uniform_keys,
)

SUBWINDOW, PARTITIONS = 1 << 23, 1 << 16
BATCHES = (1 << 13, 1 << 15, 1 << 17, 1 << 19)
#: The hardware's subwindow, index and batches are smaller by this factor.
SMALLER = 128
UNITS = {"mergers": 8, "probers": 4}
#: The paper's clock is 252.7 MHz; two channels of DDR3-1066 give 68 bytes a cycle at this one.
CLOCK = 250e6
HARDWARE = "hardware"
INSERTING, PROBING = "inserting", "probing"
#: Beyond this batch hardware is faster than RaP-Table and WiB+-Tree; its least share of BI-Sort's rate on a processor.
CROSSING, SHARE = 1 << 16, 0.4
#: The paper's BI-Sort inserts with so many threads, and all of its structures are probed with as many.
THREADS = 8
#: What the paper says they need, with all threads.
PROCESSOR_WATTS, FPGA_WATTS = 60, 7.9


def measure(
    settings: EntrySettings,
    *,
    subwindow: int = SUBWINDOW,
    partitions: int = PARTITIONS,
    batches: tuple[int, ...] = BATCHES,
    smaller: int = SMALLER,
    units: dict[str, int] = UNITS,
    turns: int = 2,
) -> dict:
    """Rates of inserting into subwindows that are half full, and of probing them with keys that match about once."""
    points = []
    for batch in batches:
        settings.progress(f"hardware, batches of {brief(batch)}")
        rates = _hardware(subwindow // smaller, partitions // smaller, batch // smaller, units)
        points += [{"what": what, "variant": HARDWARE, "batch": batch, "rate": rate} for what, rate in rates.items()]
    every = contestants(subwindow, partitions)
    software = {name: every[name] for name in (RAP_TABLE, WIB_TREE, BI_SORT)}
    keys = uniform_keys(np.random.default_rng(0), subwindow // 2)
    for batch in batches:
        settings.progress(f"software, batches of {brief(batch)}")
        inserted = insertion_rate(software, dict.fromkeys(software, keys), batch, batch, turns)
        for what, rates in ((INSERTING, inserted), (PROBING, _probing_rates(software, keys, batch, turns))):
            points += [{"what": what, "variant": name, "batch": batch, "rate": rate} for name, rate in rates.items()]
    return {"subwindow": subwindow, "partitions": partitions, "smaller": smaller, "clock": CLOCK, "points": points}


def _hardware(subwindow: int, partitions: int, batch: int, units: dict[str, int]) -> dict[str, float]:
    """Tuples a second, at the paper's clock, of the last steps of R, and of a step of S that probes R."""
    sizes = {"window": subwindow, "subwindow": subwindow, "partitions": partitions, "batch": batch}
    simulated = simulator(**sizes, predicate="equi", **units, **DDR3)
    rng = np.random.default_rng(batch)
    held = rng.integers(0, 1 << 32, subwindow // 2)
    probes = rng.choice(held, 2 * batch)
    found, matches = steps(simulated, np.repeat([0, 1], [len(held), len(probes)]), np.concatenate([held, probes]))
    distinct, counts = np.unique(held, return_counts=True)
    expected = counts[np.searchsorted(distinct, probes)].sum()
    if matches.sum() != expected:
        raise DesignError(f"bisort finds {matches.sum()} matches where there are {expected}")
    # The end of a step of R is told before it has merged: what it took lies before the end of the next.
    merging = found[len(held) // batch - 2 : len(held) // batch]
    return {
        INSERTING: CLOCK * sum(step.fresh for step in merging) / sum(step.cycles for step in merging),
        PROBING: CLOCK * found[-1].fresh / found[-1].cycles,
    }


def _probing_rates(software: dict, keys: np.ndarray, batch: int, turns: int) -> dict[str, float]:
    """Probes a second, of keys that are there."""
    chosen = np.sort(np.random.default_rng(batch).choice(keys, batch))
    probe = Probe.of(chosen, parse_predicate("equi"), keys_are_r=True)
    best = dict.fromkeys(software, float("inf"))
    for each in software.values():
        each.refill(keys)
    for _ in range(turns):
        for name, each in software.items():
            best[name] = min(best[name], seconds(partial(each.count, probe)))
            check(keys, probe, each.count(probe), name)
    return {name: batch / each for name, each in best.items()}


def _rates(data: dict, what: str) -> dict[str, dict[int, float]]:
    return series_of([point for point in data["points"] if point["what"] == what])


def shares(data: dict, what: str) -> dict[int, float]:
    """The hardware's rate beside that of BI-Sort on all threads of a processor, by batch."""
    found = _rates(data, what)
    return {batch: rate / (THREADS * found[BI_SORT][batch]) for batch, rate in found[HARDWARE].items()}


def _ahead(data: dict, what: str, threads: int) -> float:
    """How many times as fast as the faster of the other two the hardware is, with batches past the crossing."""
    found = _rates(data, what)
    return min(
        rate / (threads * max(found[name][batch] for name in (RAP_TABLE, WIB_TREE)))
        for batch, rate in found[HARDWARE].items()
        if batch > CROSSING
    )


def judge(data: dict) -> Verdict:
    # A single thread inserts into the other two in the paper as well; eight probe them.
    inserting, probing = _ahead(data, INSERTING, 1), _ahead(data, PROBING, THREADS)
    beyond = {
        what: min(s for batch, s in shares(data, what).items() if batch > CROSSING) for what in (INSERTING, PROBING)
    }
    energy = {what: share * PROCESSOR_WATTS / FPGA_WATTS for what, share in beyond.items()}
    because = (
        f"with batches above {brief(CROSSING)} hardware takes {inserting:.2f} times as many tuples as the faster of "
        f"RaP-Table and WiB+-Tree, and is probed {probing:.2f} times as fast as the faster one by {THREADS} threads, "
        f"at least; BI-Sort with {THREADS} threads would take {1 / beyond[INSERTING]:.2f} times as many tuples and be "
        f"probed {1 / beyond[PROBING]:.2f} times as fast; with the paper's powers hardware takes "
        f"{energy[INSERTING]:.1f} and probes {energy[PROBING]:.1f} times as many tuples a joule"
    )
    holds = inserting > 1 and probing > 1 and beyond[INSERTING] >= SHARE and energy[PROBING] > 1
    return Verdict(holds, because)


def table(data: dict) -> Table:
    columns = {f"{what}, {name}": line for what in (INSERTING, PROBING) for name, line in _rates(data, what).items()}
    batches = sorted({point["batch"] for point in data["points"]})
    rows = [(brief(batch), *(f"{line[batch] / 1e6:.2f}" for line in columns.values())) for batch in batches]
    return Table(("batch, M tuples/s", *columns), rows)


def chart(data: dict) -> Chart:
    looks = style.looks(list(_rates(data, INSERTING)))
    rates = [point["rate"] for point in data["points"]]

    def panel(what, title):
        def draw(axes, _):
            draw_rates(axes, _rates(data, what), looks, title=title, x="Tuples in a batch", rates=rates)
            widest = max(point["batch"] for point in data["points"])
            claim_between(axes, CROSSING, widest, "paper: hardware ahead of\nRaP-Table and WiB+-Tree")

        return Panel(draw)

    panels = [panel(INSERTING, "14a: inserting, software with one thread"), panel(PROBING, "14b: probing, likewise")]
    return Chart(ENTRY.name, f"BI-Sort in hardware ({ENTRY.source})", ENTRY.claim, panels, looks)


ENTRY = Entry(
    name="003-figure-14",
    where="figure 14",
    title="BI-Sort in hardware against the size of a batch",
    claim=(
        "With 8 M tuples, 64 K partitions, 8 mergers, 8 probers and two channels of DDR3-1066, hardware takes tuples "
        "faster than RaP-Table and WiB+-Tree on a processor, and is probed faster, if batches are larger than 64 K. It "
        "takes 0.4 to 0.6 times as many as BI-Sort on the processor, with about a quarter of the energy a tuple; for "
        "probing, too, it gives more for its energy."
    ),
    rule=(
        "With every batch above 64 K hardware inserts faster than RaP-Table and WiB+-Tree with one thread, as in the "
        f"paper, and probes faster than {THREADS} times what one thread does; it inserts at least {SHARE:g} times as "
        f"fast as {THREADS} times BI-Sort's thread; and with the paper's {FPGA_WATTS:g} and {PROCESSOR_WATTS} W it "
        "probes more tuples a joule than that."
    ),
    differs=(
        f"Hardware is simulated at {CLOCK / 1e6:g} MHz with everything {SMALLER} times smaller, which does not make it "
        "faster; our probers have two comparators each, so four of them. Its tuples have 14 bytes instead of 8, and a "
        "step of probing merges a batch besides. Its last merges are those before the subwindow is half full: with the "
        "largest batch, when it is a third full. Software is NumPy with one thread on another processor, and "
        f"{THREADS} threads are taken to be {THREADS} times as fast, which is more than they are. Powers are the "
        "paper's: ours are not known."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
