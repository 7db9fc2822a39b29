"""The report of a sweep as one page that needs nothing but itself, and no script to be read."""

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from operator import itemgetter
from string import Template

from streamjoin.report.charts import VARIABLES, Chart
from streamjoin.report.metrics import METRICS, POST_ROUTE, Metric, clock_of, fmax, is_sound, nothing_matched
from streamjoin.report.naming import Naming, in_words, upper
from streamjoin.report.side_by_side import MARK, table, table_words
from streamjoin.report.style import Look

_TILES = (
    "tuples_per_second",
    "fmax",
    "comparisons_per_kilolut",
    "tuples_per_cycle",
    "latency_p50",
    "share_of_limit",
)
_MOST_TILES = 6  # one row of a wide page
#: The outlines of matplotlib's marks, for the legend.
_SHAPES = {
    "o": '<circle cx="12" cy="6" r="4"/>',
    "s": '<rect x="8.2" y="2.2" width="7.6" height="7.6"/>',
    "D": '<path d="M12 1l5 5-5 5-5-5z"/>',
    "^": '<path d="M12 1l4.6 8.6H7.4z"/>',
    "v": '<path d="M12 11L7.4 2.4h9.2z"/>',
    "P": '<path d="M10 1h4v3h3v4h-3v3h-4V8H7V4h3z"/>',
    "X": '<path d="M9 1l3 2.5L15 1l2 2-2.500 3 2.500 3-2 2-3-2.500L9 11 7 9l2.500-3L7 3z"/>',
    "h": '<path d="M12 1l4.400 2.500v5L12 11 7.600 8.500v-5z"/>',
}


def render(results: dict, charts: Sequence[Chart]) -> str:
    """The page for what :func:`streamjoin.report.sweep_report.gather` gives."""
    rows = results["rows"]
    shown = [metric for metric in METRICS.values() if any(metric.of(row) is not None for row in rows)]
    return Template(_part("page.html")).substitute(
        title=escape(results["title"]),
        lead=escape(_lead(results)),
        style=_part("page.css"),
        script=_part("page.js"),
        tiles="\n".join(_tiles(rows)),
        failures=_failures(results),
        charts="\n".join(_chart(chart) for chart in charts),
        paths=_paths(rows),
        table=table(rows, shown),
        table_words=table_words(rows),
        about=_about(results),
    )


def _part(name: str) -> str:
    return files("streamjoin.report").joinpath(name).read_text(encoding="utf-8")


def _lead(results: dict) -> str:
    rows = results["rows"]
    points = {(row["design"], *row["parameters"].items()) for row in rows}
    designs = " and ".join(dict.fromkeys(row["design"] for row in rows))
    text = f"{_count(len(points), 'point')} of {designs}"
    if results["settings"]["targets"]:
        text += f", on {', '.join(results['settings']['targets'])}"
    exact, short, wrong = _checked(rows)
    text += f". {_count(exact + short + wrong, 'simulation')}, "
    if wrong:
        text += f"{wrong} with a WRONG result."
    elif short:
        text += f"{short} with results MISSING by overflow: windows had no room for their spans."
    elif not all(map(is_sound, rows)):
        text += "and a design that MISBEHAVES."
    else:
        text += "each result exact." if exact else "nothing checked yet."
        if exact and not any(run["results"] for row in rows for run in row["runs"]):
            text += " Nothing matched: there are no results."
    same = Naming.of(rows).fixed
    if same:
        text += f" Common to all: {', '.join(in_words(name, value) for name, value in same.items())}."
    return text


def _tiles(rows: Sequence[dict]) -> list[str]:
    """The best figure of each headline metric; figures that rest on an estimated clock never beat measured ones."""
    tiles = []
    for metric in (METRICS[name] for name in _TILES):
        known = [(value, row) for row in rows if (value := metric.of(row)) is not None and is_sound(row)]
        measured = [(value, row) for value, row in known if not metric.is_estimate(row)] or known
        if not measured:
            continue
        _, best = (max if metric.better == "higher" else min)(measured, key=itemgetter(0))
        where = best["label"] + (f" on {best['target']}" if metric.by_target else "")
        word = "highest" if metric.better == "higher" else "lowest"
        tiles.append(_tile(f"{word} {metric.label}", metric, best, where))
    flat = _flatness(rows)
    return [*tiles[: _MOST_TILES - 1], flat] if flat else tiles[:_MOST_TILES]


def _checked(rows: Sequence[dict]) -> tuple[int, int, int]:
    """How many simulations are exact, lack results by overflow, and are wrong; those of several targets count once."""
    runs = {(row["design"], *row["parameters"].items(), run["match_rate"]): run for row in rows for run in row["runs"]}
    exact = sum(run["check"] == "exact" for run in runs.values())
    short = sum(bool(run.get("overflow")) for run in runs.values())
    return exact, short, len(runs) - exact - short


def _tile(what: str, metric: Metric, row: dict, where: str) -> str:
    estimate = f" {MARK}" if metric.is_estimate(row) else ""
    figure = f"{metric.text(metric.of(row))} <small>{escape(metric.unit)}</small>{estimate}"
    return (
        f'<div class="tile"><p class="what">{escape(upper(what))}</p><p class="figure">{figure}</p>'
        f'<p class="where">{escape(where)}</p></div>'
    )


def _flatness(rows: Sequence[dict]) -> str:
    """What the clock loses from the shortest chain to the longest, at worst: the question of the handshake papers."""
    naming = Naming.of(rows)
    series: dict[tuple[str, str], list[tuple[int, float, dict]]] = {}
    for row in rows:
        position, clock = naming.position(row), fmax(row)
        if position is None or clock is None or clock_of(row) != POST_ROUTE:
            continue
        if naming.axis == "cores" and "cores" in row["parameters"]:
            series.setdefault((naming.series(row), row["target"]), []).append((position, clock, row))
    of_cores = itemgetter(0)
    ends = [(min(each, key=of_cores), max(each, key=of_cores)) for each in series.values() if len(each) > 1]
    if not ends:
        return ""
    (_, before, few), (_, after, many) = min(ends, key=lambda pair: pair[1][1] / pair[0][1])
    change = 100 * (after / before - 1)
    sign = "+" if change > 0 else "−" if change < 0 else "±"
    where = f"{naming.series(few)} on {few['target']}, {before:.0f} to {after:.0f} MHz"
    return (
        f'<div class="tile"><p class="what">Clock from {naming.position(few)} to {naming.position(many)} cores</p>'
        f'<p class="figure">{sign}{abs(change):.1f} <small>%</small></p><p class="where">{escape(where)}</p></div>'
    )


def _failures(results: dict) -> str:
    """What went wrong first, then what did not fit or was refused, which is an answer, too."""
    alarms, answers, open_ones = {}, {}, {}
    for row in results["rows"]:
        for failure in row["failures"]:
            target = f" on {row['target']}" if failure["step"] == "synthesis" else ""
            place = {"does not fit": answers, "not finished": open_ones}.get(failure["kind"], alarms)
            place[
                f"<b>{escape(row['label'] + target)}</b>: {escape(failure['kind'])}. {escape(failure['sentence'])}"
            ] = None
    # Refusals for the same reason are told once.
    reasons: dict[tuple[str, str], list[str]] = {}
    for refusal in results["refused"]:
        words = ", ".join(f"{name}={value}" for name, value in refusal["choices"].items())
        reasons.setdefault((refusal["design"], refusal["sentence"]), []).append(words)
    for (design, sentence), several in reasons.items():
        which = (
            escape(several[0]) if len(several) == 1 else f"{len(several)} combinations, such as {escape(several[0])}"
        )
        answers[f"<b>{escape(design)}</b> refuses {which}: {escape(sentence)}."] = None
    silent = {
        f"<b>{escape(row['label'])}</b>: 0 results at {escape(', '.join(rates))}": None
        for row in results["rows"]
        if (rates := nothing_matched(row))
    }
    return (
        _list("What failed", alarms, "failures")
        + _list("What cannot be built", answers, "failures mild")
        + _list("What is not measured yet", open_ones, "failures mild")
        + _list("Where nothing matched", silent, "failures mild")
    )


def _list(heading: str, items: dict[str, None], kind: str) -> str:
    if not items:
        return ""
    lines = "".join(f"<li>{item}</li>" for item in items)
    return f'<section class="{kind}"><h2>{heading}</h2><ul>{lines}</ul></section>\n'


def _chart(chart: Chart) -> str:
    panels = "".join(f"<figure>{svg}</figure>" for svg in chart.inline())
    size = {1: "one", 2: "two"}.get(len(chart.panels), "many")
    legend = "".join(f"<li>{_swatch(look)}{escape(name)}</li>" for name, look in chart.legend.items())
    legend = f'<ul class="legend">{legend}</ul>' if legend else ""
    return (
        f'<section id="{chart.name}" class="{size}"><h2>{escape(chart.heading)}</h2>'
        f'<p class="words">{escape(chart.words)}</p>{legend}<div class="panels">{panels}</div></section>'
    )


def _paths(rows: Sequence[dict]) -> str:
    """What limits the clock of each point: its longest path, told in the design's parts."""
    items = []
    for row in rows:
        path = (row["cost"] or {}).get("critical_path") or {}
        if not path.get("steps"):
            continue
        parts = dict.fromkeys(
            f"{step['part']} ({step['kind']})" if step["part"] else step["kind"] for step in path["steps"]
        )
        items.append(
            f"<li><b>{escape(row['label'])} on {escape(row['target'])}</b>: {escape(' → '.join(parts))}, "
            f"{path['nanoseconds']:.1f}\u00a0ns in {path['levels']} levels of logic, "
            f"{100 * path['routing_share']:.0f}\u00a0% of it routing</li>"
        )
    if not items:
        return ""
    return f"<section><details><summary>What limits the clock</summary><ul>{''.join(items)}</ul></details></section>"


def _swatch(look: Look) -> str:
    colour = f"var(--{VARIABLES[look.colour]})"
    return (
        f'<svg viewBox="0 0 24 12" aria-hidden="true" fill="{colour}" stroke="none">'
        f'<path d="M0 6h24" stroke="{colour}" stroke-width="2"/>{_SHAPES[look.mark]}</svg>'
    )


def _about(results: dict) -> str:
    settings = results["settings"]
    rates = ", ".join("uniform keys" if rate is None else f"{100 * rate:g}\u00a0%" for rate in settings["match_rates"])
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    paragraphs = [
        f"<code>{escape(results['command'])}</code>",
        escape(
            f"Simulated cycle by cycle with up to {settings['tuples']:,} tuples a run, alternating between the "
            f"streams, at match rates of {rates}; every run is compared with a reference join. A run counts from the "
            "first tuple to the last result, filling and draining included."
        ),
    ]
    if settings["targets"]:
        clocks = dict.fromkeys((row["target"], clock_of(row)) for row in results["rows"] if row["cost"])
        told = [f"{target}: {clock or 'area only, no clock'}" for target, clock in clocks]
        # Often a number, sometimes an expression of parameters.
        seeds = f"{settings['seeds']} seed{'' if str(settings['seeds']) == '1' else 's'}"
        paragraphs.append(escape(f"Synthesised, and where possible placed and routed with {seeds}. {'; '.join(told)}."))
    date = results["date"][:16].replace("T", " ")
    paragraphs.append(escape(f"{date} UTC, {results['machine']}; {versions}."))
    return "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
