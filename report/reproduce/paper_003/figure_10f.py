"""Pan and Jacobsen 2018, figure 10f: how soon the splitters of a RaP-Table fit the keys."""

from collections.abc import Callable

import numpy as np

from streamjoin.reference.panjoin.splitters import Histograms, adjusted, even_splitters, imbalance
from streamjoin.report import style
from streamjoin.report.charts import Chart, Panel
from streamjoin.report.reproduce.framework.entry import Entry, EntrySettings, Table, Verdict
from streamjoin.report.reproduce.measuring.subwindows import KEY_WIDTH, brief

SUBWINDOW = 1 << 21
PARTITIONS = (1 << 10, 1 << 14)
#: The paper's figure goes on for some iterations; what comes after the third should bring nothing more.
ADJUSTMENTS, ALLOWED = 8, 3
#: Imbalance that may still be gained later on.
SETTLED = 0.05
RANGE = 1 << KEY_WIDTH


def _modes(rng: np.random.Generator, size: int, count: int) -> np.ndarray:
    """The middle of a hump for each key, humps evenly over the range."""
    return RANGE * (rng.integers(0, count, size) + 0.5) / count


def _normal(sigma: float, modes: int) -> Callable:
    return lambda rng, size: _modes(rng, size, modes) + sigma * RANGE * rng.standard_normal(size)


def _uniform(width: float, modes: int) -> Callable:
    return lambda rng, size: _modes(rng, size, modes) + width * RANGE * (rng.random(size) - 0.5)


def _heavy(rng: np.random.Generator, size: int) -> np.ndarray:
    """As view counts of videos: 99 % lie within 1 % of the data's range, and within 0.01 % of all keys' range."""
    return rng.lognormal(np.log(1000), 2.6, size)


#: As the paper's legend names them: normal (sigma, humps) and uniform (range, humps), in parts of the range of keys.
DISTRIBUTIONS = {
    "U(1, 1)": _uniform(1, 1),
    "U(0.001, 1)": _uniform(0.001, 1),
    "U(0.001, 8)": _uniform(0.001, 8),
    "N(0.1, 1)": _normal(0.1, 1),
    "N(0.0001, 1)": _normal(0.0001, 1),
    "N(0.0001, 8)": _normal(0.0001, 8),
    "heavy tail": _heavy,
}


def draw(name: str, rng: np.random.Generator, size: int) -> np.ndarray:
    """Keys of a subwindow, ascending."""
    return np.sort(np.clip(DISTRIBUTIONS[name](rng, size), 0, RANGE - 1).astype(np.int64))


def least_imbalance(keys: np.ndarray, partitions: int) -> float:
    """What splitters chosen with all keys in hand would leave: equal keys cannot be parted."""
    splitters = keys[len(keys) * np.arange(1, partitions) // partitions - 1]
    return imbalance(np.bincount(np.searchsorted(splitters, keys, side="left"), minlength=partitions))


def course(name: str, partitions: int, subwindow: int) -> dict:
    """The imbalance of one subwindow after the other, each with splitters from the one before."""
    rng = np.random.default_rng(0)
    splitters, found = even_splitters(partitions, KEY_WIDTH), []
    for _ in range(ADJUSTMENTS + 1):
        keys = draw(name, rng, subwindow)
        seen = Histograms(partitions)
        seen.add(np.searchsorted(splitters, keys, side="left"), keys)
        found.append(imbalance(seen.count))
        splitters = adjusted(splitters, seen)
    least = least_imbalance(keys, partitions)
    return {"distribution": name, "partitions": partitions, "imbalance": found, "least": least}


def measure(settings: EntrySettings, *, subwindow: int = SUBWINDOW, partitions: tuple[int, ...] = PARTITIONS) -> dict:
    courses = []
    for count in partitions:
        for name in DISTRIBUTIONS:
            settings.progress(f"{name}, {brief(count)} partitions")
            courses.append(course(name, count, subwindow))
    return {"subwindow": subwindow, "courses": courses}


def settled(each: dict) -> int:
    """After how many adjustments no later one brings more than a little."""
    found = each["imbalance"]
    return next(n for n in range(len(found)) if found[n] <= min(found[n:]) + SETTLED)


def judge(data: dict) -> Verdict:
    slowest = max(data["courses"], key=settled)
    after = {
        count: max(each["imbalance"][ALLOWED] for each in data["courses"] if each["partitions"] == count)
        for count in sorted({each["partitions"] for each in data["courses"]})
    }
    because = (
        f"{slowest['distribution']} takes longest, {settled(slowest)} adjustments with {brief(slowest['partitions'])} "
        f"partitions; after {ALLOWED}, imbalance is at most "
        + ", ".join(f"{most:.2f} with {brief(count)}" for count, most in after.items())
    )
    return Verdict(settled(slowest) <= ALLOWED, because)


def table(data: dict) -> Table:
    rows = [
        (
            *(each["distribution"], brief(each["partitions"]), str(settled(each))),
            *(f"{value:.3f}" for value in each["imbalance"][: ALLOWED + 2]),
            *(f"{value:.3f}" for value in (each["imbalance"][-1], each["least"])),
        )
        for each in data["courses"]
    ]
    after = (f"after {n}" for n in range(ALLOWED + 2))
    return Table(("keys", "partitions", "settled after", *after, f"after {ADJUSTMENTS}", "at best"), rows)


def chart(data: dict) -> Chart:
    looks = style.looks(list(DISTRIBUTIONS))

    def panel(partitions):
        def draw_courses(axes, _):
            for each in data["courses"]:
                if each["partitions"] == partitions:
                    look = looks[each["distribution"]]
                    values = each["imbalance"]
                    sizes = {"linewidth": look.width, "marker": look.mark, "markersize": look.size}
                    axes.plot(range(len(values)), values, color=look.colour, zorder=3, **sizes)
            title = f"{brief(partitions)} partitions of {data['subwindow'] // partitions} tuples"
            style.dress(axes, title=title, x="Adjustments", y="Imbalance")
            style.upward(axes, [value for each in data["courses"] for value in each["imbalance"]], wide=True)
            axes.axvspan(ALLOWED, ADJUSTMENTS + 0.3, color=style.GRID, zorder=0)
            axes.set_xlim(-0.3, ADJUSTMENTS + 0.3)
            axes.annotate(
                "paper: nothing changes\nany more after 3",
                (ALLOWED + 0.15, 0.98),
                xycoords=axes.get_xaxis_transform(),
                va="top",
                fontsize=8.5,
                color=style.MUTED,
            )

        return Panel(draw_courses)

    panels = [panel(count) for count in sorted({each["partitions"] for each in data["courses"]})]
    return Chart(ENTRY.name, f"Splitters fit the keys ({ENTRY.source})", ENTRY.claim, panels, looks)


ENTRY = Entry(
    name="003-figure-10f",
    where="figure 10f",
    title="Splitters fit the keys after a few adjustments",
    claim=(
        "From splitters spread evenly over 32 bits, three adjustments are enough for normal and uniform keys of one or "
        "several humps and for view counts of videos, of which 99 % fall into 0.01 % of the range; fewer partitions "
        "need fewer adjustments and end up more even."
    ),
    rule=(
        f"From the third adjustment on, no later one of {ADJUSTMENTS} makes the imbalance smaller by more than "
        f"{SETTLED:g}, for any keys and any number of partitions. Imbalance is the mean distance of a partition's "
        "tuples from an even share, as a part of that share."
    ),
    differs=(
        "Algorithm 1 with the + min that its line 7 lacks. The videos are replaced by keys with a heavy tail that "
        "meet the paper's description of them. A new subwindow of 2 M tuples is drawn for each adjustment; the humps "
        "and widths are ours, since the paper's are lost with its figure. The last column is what splitters could do "
        "that knew all keys beforehand: tuples with equal keys cannot be parted. That fewer partitions need fewer "
        "adjustments is not in the rule: the worst case needs log 2^32 / log P, more with fewer, and so do our keys "
        "with a heavy tail; the most even outcome is indeed that of fewer partitions."
    ),
    measure=measure,
    judge=judge,
    table=table,
    chart=chart,
)
