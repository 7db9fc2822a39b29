"""Pan and Jacobsen 2018, figures 12a and 12b: BI-Sort's insertion against batch, partitions and subwindow."""

from itertools import pairwise

import numpy as np

from streamjoin.reference.panjoin.bi_sort import BiSort
from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.report.reproduce.measuring.subwindows import (
    Structure,
    brief,
    draw_rates,
    insertion_rate,
    series_of,
    uniform_keys,
)

SUBWINDOW, PARTITIONS, BUFFER = 1 << 23, 1 << 16, 1 << 10
ALL_PARTITIONS = (1 << 10, 1 << 13, 1 << 16)
ALL_SUBWINDOWS = (1 << 17, 1 << 20, 1 << 23)
BATCHES = tuple(1 << power for power in range(4, 21, 2))
#: Small batches share a buffer, and partitions hardly matter, if rates differ by no more than this factor.
ALIKE = 1.5
#: At the size of the buffer, a subwindow eight times as large is slower by at least this factor.
SLOWER = 2.0


def _measure(variants: dict[int, BiSort], batches, turns: int, settings: EntrySettings) -> list[dict]:
    """Rates by batch for subwindows that are half full; a batch is left out where it is more than a quarter."""
    rng = np.random.default_rng(0)
    contestants = {name: Structure(subwindow) for name, subwindow in variants.items()}
    keys = {name: uniform_keys(rng, subwindow.room // 2) for name, subwindow in variants.items()}
    points = []
    for batch in batches:
        settings.progress(f"batches of {brief(batch)}")
        taking = {name: each for name, each in contestants.items() if 4 * batch <= variants[name].room}
        # Four full buffers at least.
        rates = insertion_rate(taking, keys, batch, 4 * BUFFER, turns)
        points += [{"variant": name, "batch": batch, "rate": rate} for name, rate in rates.items()]
    return points


def measure(
    settings: EntrySettings,
    *,
    partitions: tuple[int, ...] = ALL_PARTITIONS,
    subwindows: tuple[int, ...] = ALL_SUBWINDOWS,
    batches: tuple[int, ...] = BATCHES,
    turns: int = 5,
) -> dict:
    largest = max(subwindows)
    by_partitions = {count: BiSort(largest, count, BUFFER) for count in partitions}
    found = _measure(by_partitions, batches, turns, settings)
    by_partitions.clear()
    by_size = {size: BiSort(size, min(PARTITIONS, size // 8), BUFFER) for size in subwindows}
    return {
        "subwindow": largest,
        "by_partitions": found,
        "by_subwindow": _measure(by_size, batches, turns, settings),
    }


def _spread(rates) -> float:
    rates = list(rates)
    return max(rates) / min(rates)


def judge(data: dict) -> Verdict:
    partitions, subwindows = series_of(data["by_partitions"]), series_of(data["by_subwindow"])
    small = max(_spread(rate for batch, rate in line.items() if batch <= BUFFER) for line in partitions.values())
    batches = [batch for batch in next(iter(partitions.values())) if all(batch in line for line in partitions.values())]
    over_partitions = max(_spread(line[batch] for line in partitions.values()) for batch in batches)
    slower = [subwindows[less][BUFFER] / subwindows[more][BUFFER] for less, more in pairwise(sorted(subwindows))]
    *_, less, more = sorted(subwindows)
    largest = max(batch for batch in subwindows[more] if batch in subwindows[less])
    at_largest = subwindows[less][largest] / subwindows[more][largest]
    because = (
        f"up to the buffer's {brief(BUFFER)} tuples rates differ by a factor of {small:.2f}, between partitions by "
        f"{over_partitions:.2f}; with batches of {brief(BUFFER)} each larger subwindow is slower by a factor of "
        f"{', '.join(f'{each:.1f}' for each in slower)}, with {brief(largest)} by {at_largest:.1f} in the end"
    )
    alike = max(small, over_partitions) <= ALIKE
    return Verdict(alike and min(slower) >= SLOWER and at_largest < slower[-1], because)


def table(data: dict) -> Table:
    partitions, subwindows = series_of(data["by_partitions"]), series_of(data["by_subwindow"])
    columns = {f"{brief(count)} partitions": line for count, line in partitions.items()}
    columns |= {f"{brief(size)} tuples": line for size, line in subwindows.items()}
    batches = sorted({batch for line in columns.values() for batch in line})
    rows = [
        (brief(batch), *(f"{line[batch] / 1e6:.4f}" if batch in line else "" for line in columns.values()))
        for batch in batches
    ]
    return Table(("batch, M tuples/s", *columns), rows)


def chart(data: dict) -> Chart:
    lines = {
        "partitions": series_of(data["by_partitions"]),
        "tuples": series_of(data["by_subwindow"]),
    }
    looks = style.looks([f"{brief(each)} {what}" for what, found in lines.items() for each in found])
    rates = [rate for found in lines.values() for line in found.values() for rate in line.values()]

    def panel(what, title):
        def draw(axes, _):
            shown = {f"{brief(each)} {what}": line for each, line in lines[what].items()}
            draw_rates(axes, shown, looks, title=title, x="Tuples in a batch", rates=rates)
            axes.axvline(BUFFER, color=style.FAINT, linewidth=1.6, zorder=0)
            axes.annotate(
                "buffer",
                (BUFFER, 0.03),
                xycoords=axes.get_xaxis_transform(),
                xytext=(4, 0),
                textcoords="offset points",
                fontsize=8.5,
                color=style.MUTED,
            )

        return Panel(draw)

    panels = [
        panel("partitions", f"12a: subwindows of {brief(data['subwindow'])} tuples"),
        panel("tuples", "12b: subwindows of three sizes"),
    ]
    return Chart(ENTRY.name, f"BI-Sort: inserting batches ({ENTRY.source})", ENTRY.claim, panels, looks)


ENTRY = Entry(
    name="003-figure-12a",
    where="figures 12a and 12b",
    title="BI-Sort: insertion against batch, partitions and subwindow",
    claim=(
        "Batches below the buffer's 1 K tuples make no difference, nor does the number of partitions. With small "
        "batches a large subwindow is considerably slower, since each merge passes over all of it; larger batches "
        "share that cost."
    ),
    rule=(
        f"For batches up to the buffer, and between numbers of partitions for each batch, rates differ by a factor of "
        f"at most {ALIKE:g}. With batches of 1 K each subwindow eight times as large is slower by a factor of "
        f"{SLOWER:g} or more, and the largest batch that both of the largest two take narrows that gap."
    ),
    differs=(
        "NumPy on one thread, 64-bit keys and ids, batches into half full subwindows; the paper has eight threads in "
        "C++ and 32 bits. Batches of fewer than 16 tuples are left out: there, calls in Python are all that shows."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
