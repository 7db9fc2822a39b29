"""Oge et al. 2011, figure 10: about 150 MHz from 2 to 64 cores."""

from streamjoin.hdl.registry import find
from streamjoin.report.charts import Chart
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Verdict
from streamjoin.report.reproduce.measuring.clocks import clock_chart, clock_table, measure_clocks, medians, missing

CLAIMED = 150
#: What still counts as nearly so.
NEARLY = 0.95


def measure(settings: EntrySettings) -> dict:
    return measure_clocks({f"as in {ENTRY.paper.short}": find("handshake").presets["paper-001"]}, settings)


def judge(data: dict) -> Verdict:
    clocks = {cores: mhz for found in medians(data).values() for cores, mhz in found.items()}
    if not clocks:
        return Verdict(False, "nothing fits the device")
    slowest = min(clocks, key=clocks.__getitem__)
    because = (
        f"from {min(clocks)} to {max(clocks)} cores the clock is {min(clocks.values()):.0f} to "
        f"{max(clocks.values()):.0f} MHz, slowest with {slowest}"
    )
    because = "; ".join([because, *(f"{point} does not fit" for point in missing(data))])
    return Verdict(clocks[slowest] >= NEARLY * CLAIMED, because)


def chart(data: dict) -> Chart:
    words = f"paper: nearly {CLAIMED} MHz from 2 to 64 cores, Virtex-6"
    heading = f"Clock against cores ({ENTRY.source})"
    return clock_chart(data, ENTRY.name, heading, (CLAIMED, CLAIMED), words)


ENTRY = Entry(
    name="001-figure-10",
    where="figure 10",
    title="Clock against cores, with admission control and merging tree",
    claim=(
        f"All six configurations from 2 to 64 cores reach nearly {CLAIMED} MHz (a period of 6.67 ns) on a Virtex-6 "
        "XC6VLX240T-1, admission control and merging tree included."
    ),
    rule=f"Every median clock that was measured is at least {100 * NEARLY:.0f} % of {CLAIMED} MHz.",
    differs=(
        "Another device (ECP5 instead of Virtex-6) and open tools. Same parameters: sequential scan, three-state "
        "mergers, queues of 8 and 4, segments of 8."
    ),
    measure=measure,
    judge=judge,
    table=lambda data: clock_table(data, f"{CLAIMED}"),
    chart=chart,
)
