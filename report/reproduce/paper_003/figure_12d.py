"""Pan and Jacobsen 2018, figures 12d and 12e: BI-Sort's probing does not depend on how many tuples match."""

from functools import partial

import numpy as np

from streamjoin.reference.panjoin.bi_sort import BiSort
from streamjoin.reference.panjoin.probe import Probe
from streamjoin.reference.predicates import parse_predicate
from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.report.reproduce.measuring.subwindows import (
    BI_SORT,
    KEY_WIDTH,
    brief,
    check,
    draw_rates,
    seconds,
    series_of,
)

SUBWINDOW, BATCH = 1 << 23, 1 << 15
PARTITIONS = (1 << 12, 1 << 16)
MATCHES = (1, 4, 16, 64, 256, 1024, 4096)
#: Of the rate with one match a probe, this much is left with any number.
LEFT = 0.9
JOINS = ("equi", "band")


def workload(join: str, matches: int, subwindow: int, batch: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Keys of a full subwindow and of a batch, both in order, and a predicate: so many matches a probe, on average.

    For an equi-join each key occurs so many times; for a band the keys are different ones, and the band is wide.
    """
    rng = np.random.default_rng(matches)
    values = subwindow // matches if join == "equi" else subwindow
    apart = (1 << KEY_WIDTH) // values
    keys, probes = (np.sort(rng.integers(0, values, size)) * apart for size in (subwindow, batch))
    # A band of ±eps holds the keys of (2 eps + 1) / apart values.
    return keys, probes, "equi" if join == "equi" else f"band:{(matches * apart - 1) // 2}"


def _rates(filled: dict[int, BiSort], probes: dict[int, Probe], turns: int) -> dict[int, float]:
    """Probes a second that are answered by records; every count of matches takes its turn beside all others."""
    best = dict.fromkeys(filled, float("inf"))
    for _ in range(turns):
        for each, subwindow in filled.items():
            best[each] = min(best[each], seconds(partial(subwindow.probe_batch, probes[each])))
    return {each: probes[each].width / least for each, least in best.items()}


def measure(
    settings: EntrySettings,
    *,
    subwindow: int = SUBWINDOW,
    batch: int = BATCH,
    partitions: tuple[int, ...] = PARTITIONS,
    matches: tuple[int, ...] = MATCHES,
    turns: int = 60,
) -> dict:
    points = []
    for join in JOINS:
        for count in partitions:
            settings.progress(f"{join}, {brief(count)} partitions")
            filled, probes, found = {}, {}, {}
            for each in matches:
                keys, batch_keys, spec = workload(join, each, subwindow, batch)
                filled[each] = BiSort(subwindow, count)
                filled[each].insert_batch(keys, np.arange(len(keys)))
                probes[each] = Probe.of(batch_keys, parse_predicate(spec), keys_are_r=True)
                found[each] = filled[each].probe_batch(probes[each]).count()
                check(keys, probes[each], found[each], BI_SORT)
            for each, rate in _rates(filled, probes, turns).items():
                point = {"join": join, "partitions": count, "matches": each, "found": found[each] / batch}
                points.append({**point, "rate": rate})
    return {"subwindow": subwindow, "batch": batch, "points": points}


def lines(data: dict) -> dict[tuple[str, int], dict[int, float]]:
    """Rates by matches, for each join and number of partitions."""
    named = [{**point, "variant": (point["join"], point["partitions"])} for point in data["points"]]
    return series_of(named, along="matches")


def judge(data: dict) -> Verdict:
    found = lines(data)
    left = {name: min(line.values()) / line[min(line)] for name, line in found.items()}
    (join, count), least = min(left.items(), key=lambda each: each[1])
    most = max(matches for line in found.values() for matches in line)
    gained = max(max(line.values()) / line[min(line)] for line in found.values())
    because = (
        f"with up to {brief(most)} matches a probe at least {100 * least:.0f} % of the rate with the fewest is left "
        f"({join}, {brief(count)} partitions), at most it becomes {100 * gained:.0f} %"
    )
    return Verdict(least >= LEFT, because)


def table(data: dict) -> Table:
    found = lines(data)
    matches = sorted({each for line in found.values() for each in line})
    rows = [(brief(each), *(f"{line[each] / 1e6:.2f}" for line in found.values())) for each in matches]
    head = (f"{join}, {brief(count)} partitions" for join, count in found)
    return Table(("matches, M probes/s", *head), rows)


def chart(data: dict) -> Chart:
    found = lines(data)
    looks = style.looks([f"{brief(count)} partitions" for count in sorted({count for _, count in found})])
    rates = [rate for line in found.values() for rate in line.values()]

    def panel(join, title):
        def draw(axes, _):
            shown = {f"{brief(count)} partitions": line for (each, count), line in found.items() if each == join}
            draw_rates(axes, shown, looks, title=title, x="Matches a probe", rates=[0.0, *rates], of="probes")
            for name, line in shown.items():
                axes.axhline(line[min(line)] / 1e6, color=looks[name].colour, linewidth=5, alpha=0.2, zorder=1)
            axes.annotate(
                "pale: with one match; paper: as fast for any number",
                (0.03, 0.05),
                xycoords="axes fraction",
                fontsize=8.5,
                color=style.MUTED,
            )

        return Panel(draw)

    panels = [panel("equi", "12d: equi-join"), panel("band", "12e: band join")]
    heading = f"BI-Sort: probing {brief(data['subwindow'])} tuples ({ENTRY.source})"
    return Chart(ENTRY.name, heading, ENTRY.claim, panels, looks)


ENTRY = Entry(
    name="003-figure-12d",
    where="figures 12d and 12e",
    title="BI-Sort: probing against matches a probe",
    claim=(
        "BI-Sort answers where matches begin and end, so that its probing is not sensitive to how many there are; with "
        "an equi-join it slows down a little where they reach beyond a partition, with a band not at all. More "
        "partitions are faster."
    ),
    rule=f"With 1 to 4096 matches a probe at least {100 * LEFT:g} % of the rate with one is left, for both joins.",
    differs=(
        "NumPy on one thread; batches of 32 K. Ours searches both ends within their partitions by halving instead of "
        "reading the partition, for an equi-join as for a band, and so does not slow down where matches reach beyond a "
        "partition. Where many match, an equi-join has few different keys, and their places stay in cache."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
