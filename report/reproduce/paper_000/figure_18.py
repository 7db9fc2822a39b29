"""Teubner and Mueller 2011, figure 18: the clock barely falls as cores are added."""

from streamjoin.report.charts import Chart
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Verdict
from streamjoin.report.reproduce.measuring.clocks import (
    clock_chart,
    clock_table,
    exponent,
    measure_clocks,
    medians,
    missing,
)

SLOWEST, FASTEST, MOST_CORES = 150, 170, 200
#: The paper's own spread is what we allow, too.
SPREAD = SLOWEST / FASTEST

VARIANTS = {"sequential scan": {"scan": "sequential"}, "parallel scan": {"scan": "parallel"}}


def measure(settings: EntrySettings) -> dict:
    return measure_clocks(VARIANTS, settings)


def judge(data: dict) -> Verdict:
    told, found = [], medians(data)
    holds = set(found) == {point["variant"] for point in data["points"]}
    for variant, clocks in found.items():
        share = min(clocks.values()) / max(clocks.values())
        holds &= len(clocks) > 1 and share >= SPREAD
        told.append(
            f"{variant} {min(clocks.values()):.0f} to {max(clocks.values()):.0f} MHz from {min(clocks)} to "
            f"{max(clocks)} cores, the slowest {100 * share:.0f} % of the fastest, k = {exponent(clocks):.3f}"
        )
    if any(len(clocks) < 2 for clocks in found.values()):
        told.append("one number of cores tells nothing about a trend")
    told += [f"{point} does not fit" for point in missing(data)]
    return Verdict(bool(told) and holds, "; ".join(told))


def chart(data: dict) -> Chart:
    words = f"paper: {SLOWEST} to {FASTEST} MHz up to {MOST_CORES} cores, Virtex-6"
    return clock_chart(data, ENTRY.name, f"Clock against cores, segments of 8 ({ENTRY.source})", (150, 170), words)


ENTRY = Entry(
    name="000-figure-18",
    where="figure 18",
    title="Clock against cores, segments of 8",
    claim=(
        f"The number of cores hardly affects the clock: {SLOWEST} to {FASTEST} MHz on a Virtex-6 XC6VLX760T up to "
        f"{MOST_CORES} cores with eight tuples of each stream, without a significant drop where it is "
        "96 % full. The paper calls the absolute value irrelevant: what counts is k near 0 in a cores^-k law."
    ),
    rule=(
        f"For each scan the slowest median clock is at least {SLOWEST}/{FASTEST} = {100 * SPREAD:.0f} % of the "
        "fastest, over the numbers of cores that were measured, two at least."
    ),
    differs=(
        "Another device (ECP5 instead of Virtex-6), open tools, far fewer cores. Ours includes admission control and a "
        "registered control tree, which the paper's design has not."
    ),
    measure=measure,
    judge=judge,
    table=lambda data: clock_table(data, f"{SLOWEST}-{FASTEST}"),
    chart=chart,
)
