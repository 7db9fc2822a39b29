"""Pan and Jacobsen 2018, figure 13b: how fast three structures are probed, beside a sorted array and container."""

from functools import partial

import numpy as np

from streamjoin.reference.panjoin.probe import Probe
from streamjoin.reference.predicates import parse_predicate
from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.report.reproduce.measuring.subwindows import (
    BI_SORT,
    KEY_WIDTH,
    RAP_TABLE,
    WIB_TREE,
    brief,
    check,
    contestants,
    draw_rates,
    seconds,
    series_of,
    uniform_keys,
)

SUBWINDOW, PARTITIONS, BATCH = 1 << 23, 1 << 16, 1 << 15
MATCHES = (1, 4, 16, 64, 256, 1024, 4096, 16384)
#: Matches that are copied at a time; a batch is cut where there would be more.
COPIES, COPYING = 1 << 22, (RAP_TABLE, WIB_TREE)
#: What the paper finds below a thousand matches: BI-Sort over RaP-Table, RaP-Table over WiB+-Tree; and with many.
FEW, OVER_RAP, OVER_WIB, MANY = 1024, 1.6, 1.7, 100


def measure(
    settings: EntrySettings,
    *,
    subwindow: int = SUBWINDOW,
    partitions: int = PARTITIONS,
    batch: int = BATCH,
    matches: tuple[int, ...] = MATCHES,
    turns: int = 5,
) -> dict:
    """Probes a second of a band that is more and more often met, into full subwindows."""
    rng = np.random.default_rng(0)
    keys = uniform_keys(rng, subwindow)
    all_of_them = contestants(subwindow, partitions)
    for name, each in all_of_them.items():
        settings.progress(f"filling {name} with {brief(subwindow)} tuples")
        each.refill(keys)
    points = []
    for count in matches:
        settings.progress(f"{brief(count)} matches a probe")
        eps = (count << KEY_WIDTH) // (2 * subwindow)
        sizes = {name: max(1, COPIES // count) if name in COPYING else batch for name in all_of_them}
        probes = {
            name: Probe.of(uniform_keys(rng, min(size, batch)), parse_predicate(f"band:{eps}"), keys_are_r=True)
            for name, size in sizes.items()
        }
        best = dict.fromkeys(all_of_them, float("inf"))
        for _ in range(turns):
            for name, each in all_of_them.items():
                found = []
                best[name] = min(best[name], seconds(partial(_note, found, each, probes[name])))
                check(keys, probes[name], found[0], name)
        points += [
            {"variant": name, "matches": count, "rate": probe.width / best[name]} for name, probe in probes.items()
        ]
    return {"subwindow": subwindow, "partitions": partitions, "batch": batch, "points": points}


def _note(found: list[int], contestant, probe: Probe) -> None:
    found.append(contestant.count(probe))


def ratios(data: dict, one: str, other: str) -> dict[int, float]:
    """How many times as fast the one is, by matches."""
    found = series_of(data["points"], along="matches")
    return {count: rate / found[other][count] for count, rate in found[one].items()}


def judge(data: dict) -> Verdict:
    over_rap, over_wib = ratios(data, BI_SORT, RAP_TABLE), ratios(data, RAP_TABLE, WIB_TREE)
    few = [count for count in over_rap if count < FEW]
    most = max(over_rap)
    found = series_of(data["points"], along="matches")
    because = (
        f"below {brief(FEW)} matches BI-Sort is {_span(over_rap, few)} times as fast as RaP-Table (the paper's 1.6 to "
        f"7), and that {_span(over_wib, few)} times as fast as WiB+-Tree (1.7 to 2.4); with {brief(most)} matches "
        f"BI-Sort is {over_rap[most]:.0f} times as fast as RaP-Table (100); with one match, in M probes/s: "
        + ", ".join(f"{name} {line[min(line)] / 1e6:.2f}" for name, line in found.items())
    )
    holds = all(over_rap[count] >= OVER_RAP and over_wib[count] >= OVER_WIB for count in few)
    return Verdict(holds and over_rap[most] >= MANY, because)


def _span(found: dict[int, float], counts: list[int]) -> str:
    values = [found[count] for count in counts]
    return f"{min(values):.1f} to {max(values):.1f}"


def table(data: dict) -> Table:
    found = series_of(data["points"], along="matches")
    counts = sorted({point["matches"] for point in data["points"]})
    rows = [(brief(count), *(f"{line[count] / 1e6:.4f}" for line in found.values())) for count in counts]
    return Table(("matches, M probes/s", *found), rows)


def chart(data: dict) -> Chart:
    found = series_of(data["points"], along="matches")
    looks = style.looks(list(found))

    def draw(axes, _):
        rates = [point["rate"] for point in data["points"]]
        draw_rates(axes, found, looks, x="Matches a probe", rates=rates, of="probes")
        many = {count: rate for count, rate in found[RAP_TABLE].items() if count > FEW}
        axes.plot(list(many), [MANY * rate / 1e6 for rate in many.values()], color=style.FAINT, linewidth=5, zorder=1)
        axes.annotate(
            "grey: 100 times RaP-Table,\npaper's BI-Sort with many",
            (0.03, 0.05),
            xycoords="axes fraction",
            fontsize=8.5,
            color=style.MUTED,
        )

    heading = f"Probing {brief(data['subwindow'])} tuples with a band ({ENTRY.source})"
    return Chart(ENTRY.name, heading, ENTRY.claim, [Panel(draw)], looks)


ENTRY = Entry(
    name="003-figure-13b",
    where="figure 13b",
    title="Probing: three structures, a sorted array, a sorted container",
    claim=(
        "With 8 M tuples, 64 K partitions and batches of 32 K, below a thousand matches a probe RaP-Table is probed "
        "1.7 to 2.4 times as fast as WiB+-Tree and BI-Sort 1.6 to 7 times as fast as RaP-Table; with many, BI-Sort can "
        "be 100 times as fast, since it copies nothing."
    ),
    rule=(
        f"Below {FEW} matches a probe BI-Sort is at least {OVER_RAP:g} times as fast as RaP-Table and that at least "
        f"{OVER_WIB:g} times as fast as WiB+-Tree; with the most matches BI-Sort is at least {MANY} times as fast."
    ),
    differs=(
        "NumPy on one thread for all; the paper probes with eight. A batch is cut where it would make RaP-Table and "
        "WiB+-Tree copy more than 4 M matches. The sorted array is numpy.searchsorted; the container, asked where "
        "matches begin and end, is the SortedList of sortedcontainers. Neither is in the paper, and like BI-Sort "
        "neither copies anything."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
