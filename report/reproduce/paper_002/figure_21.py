"""Roy et al. 2014, figure 21: punctuations let results be sorted in a small buffer."""

from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.drawing import claim_curve, over_cores
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.report.reproduce.measuring import chains
from streamjoin.report.reproduce.measuring.chains import HANDSHAKE, PUNCTUATED, SPAN, by_cores

SHOWN = (HANDSHAKE, PUNCTUATED)
#: The least that may be called several orders of magnitude.
RATIO = 100


def measure(settings: EntrySettings, *, span: int = SPAN) -> dict:
    return {"span": span, "points": chains.measure(settings, SHOWN, span)}


def buffers(data: dict) -> dict[str, dict[int, float]]:
    """The most results that are held at once, by cores: without punctuations, and with them."""
    return {
        HANDSHAKE: by_cores(data["points"], HANDSHAKE, lambda point: point["disorder"]),
        PUNCTUATED: by_cores(data["points"], PUNCTUATED, lambda point: point["buffer"]),
    }


def ratios(data: dict) -> dict[int, float]:
    found = buffers(data)
    return {cores: found[HANDSHAKE][cores] / held for cores, held in found[PUNCTUATED].items()}


def judge(data: dict) -> Verdict:
    held, saved = buffers(data)[PUNCTUATED], ratios(data)
    because = (
        f"with punctuations {min(held.values()):,} to {max(held.values()):,} results wait at most, from {min(held)} to "
        f"{max(held)} cores; handshake join's need {min(saved.values()):,.0f} to {max(saved.values()):,.0f} times as "
        "much room"
    )
    return Verdict(min(saved.values()) >= RATIO, because)


def table(data: dict) -> Table:
    found, saved = buffers(data), ratios(data)
    results, windows = (
        by_cores(data["points"], PUNCTUATED, lambda point, name=name: point[name]) for name in ("results", "window_s")
    )
    rows = [
        (
            *(str(cores), str(windows[cores]), f"{results[cores]:,}"),
            *(f"{found[chain][cores]:,}" for chain in SHOWN),
            *(f"{saved[cores]:,.0f}", f"{100 * held / results[cores]:.3f}"),
        )
        for cores, held in found[PUNCTUATED].items()
    ]
    head = ("cores", "window", "results", "handshake, held", "low-latency, held", "ratio", "low-latency, % of results")
    return Table(head, rows)


def chart(data: dict) -> Chart:
    looks = style.looks(list(SHOWN))
    found = buffers(data)

    def draw(axes, _):
        over_cores(axes, found, looks, title="Results held at once, at most", y="Results", wide=True)
        most = found[HANDSHAKE]
        words = f"1/{RATIO} of handshake join; paper: small, instead of many millions"
        claim_curve(axes, list(most), [each / RATIO for each in most.values()], words)

    heading = f"Buffer for sorted output against cores ({ENTRY.source})"
    return Chart(ENTRY.name, heading, ENTRY.claim, [Panel(draw)], looks)


ENTRY = Entry(
    name="002-figure-21",
    where="figure 21",
    title="Buffer that sorted output needs",
    claim=(
        "Whoever sorts the results of low-latency handshake join holds them only until the next punctuation, which "
        "takes a small buffer at any number of cores and saves several orders of magnitude: without punctuations many "
        "millions of results would have to be held. (Its values are lost with the figure.)"
    ),
    rule=(
        "At every number of cores the results that wait for a punctuation at any time of a run are at most "
        f"1/{RATIO} of those of handshake join that have to be held to sort them. Two orders of magnitude are the "
        "least that the claim can mean."
    ),
    differs=(
        f"Windows last about {SPAN:,} cycles and hold some thousand tuples; the paper's hold millions, and the ratio "
        "grows with the window. A tuple finds some ten partners, as in the paper. Handshake join's results are held by "
        "one who knows what is still to come, and so holds no more than must be; in truth nothing tells him, and he "
        "has to wait for as long as the longest latency. Only its steady part counts, since its drain goes another way."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
