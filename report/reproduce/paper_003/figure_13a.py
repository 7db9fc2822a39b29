"""Pan and Jacobsen 2018, figure 13a: how fast three structures take tuples, beside a sorted array and container."""

import numpy as np

from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import claim_between
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Verdict
from streamjoin.report.reproduce.measuring.subwindows import (
    BI_SORT,
    RAP_TABLE,
    WIB_TREE,
    brief,
    contestants,
    draw_rates,
    insertion_rate,
    rates_by_batch,
    series_of,
    uniform_keys,
)

SUBWINDOW, PARTITIONS = 1 << 23, 1 << 16
BATCHES = (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20)
#: Beyond this batch BI-Sort is the fastest of the three, and up to it the slowest.
CROSSING = 1 << 16


def measure(
    settings: EntrySettings,
    *,
    subwindow: int = SUBWINDOW,
    partitions: int = PARTITIONS,
    batches: tuple[int, ...] = BATCHES,
    turns: int = 3,
) -> dict:
    """Rates into subwindows that are half full."""
    all_of_them = contestants(subwindow, partitions)
    keys = dict.fromkeys(all_of_them, uniform_keys(np.random.default_rng(0), subwindow // 2))
    points = []
    for batch in batches:
        settings.progress(f"batches of {brief(batch)}")
        rates = insertion_rate(all_of_them, keys, batch, 4096, turns)
        points += [{"variant": name, "batch": batch, "rate": rate} for name, rate in rates.items()]
    return {"subwindow": subwindow, "partitions": partitions, "points": points}


def judge(data: dict) -> Verdict:
    found = series_of(data["points"])
    others = {batch: [found[name][batch] for name in (RAP_TABLE, WIB_TREE)] for batch in found[BI_SORT]}
    slowest = all(rate < min(others[batch]) for batch, rate in found[BI_SORT].items() if batch < CROSSING)
    beyond = {batch: rate / max(others[batch]) for batch, rate in found[BI_SORT].items() if batch > CROSSING}
    batch, share = max(beyond.items(), key=lambda each: each[1])
    fastest = {name: max(line.values()) / 1e6 for name, line in found.items()}
    because = (
        f"with batches below {brief(CROSSING)} BI-Sort is {'' if slowest else 'not always '}the slowest of the three, "
        f"and with {brief(batch)} it takes {share:.2f} times as many tuples as the faster of the others; at best, in M "
        f"tuples/s: {', '.join(f'{name} {rate:.2f}' for name, rate in fastest.items())}"
    )
    return Verdict(slowest and min(beyond.values()) > 1, because)


def chart(data: dict) -> Chart:
    found = series_of(data["points"])
    looks = style.looks(list(found))

    def draw(axes, _):
        rates = [point["rate"] for point in data["points"]]
        draw_rates(axes, found, looks, x="Tuples in a batch", rates=rates)
        claim_between(axes, CROSSING, max(found[BI_SORT]), "paper: here BI-Sort is\nfaster than the other two")

    heading = f"Inserting into {brief(data['subwindow'])} tuples ({ENTRY.source})"
    return Chart(ENTRY.name, heading, ENTRY.claim, [Panel(draw)], looks)


ENTRY = Entry(
    name="003-figure-13a",
    where="figure 13a",
    title="Insertion: three structures, a sorted array, a sorted container",
    claim=(
        "With 8 M tuples and 64 K partitions BI-Sort takes tuples faster than RaP-Table and WiB+-Tree only with "
        "batches of more than 64 K; with smaller ones its insertion is the bottleneck."
    ),
    rule=(
        "BI-Sort is slower than both with every batch below 64 K, and faster than both with every batch above. (That "
        "each structure takes millions of tuples a second is our own claim; the verdict tells the figures.)"
    ),
    differs=(
        "NumPy on one thread for all, 64-bit keys and ids, half full subwindows; the paper's BI-Sort has eight threads "
        "for its merge, the other two have one, as ours. The sorted array is numpy.insert; the container is the "
        "SortedList of sortedcontainers. Neither is in the paper."
    ),
    measure=measure,
    judge=judge,
    table=rates_by_batch,
    chart=chart,
)
