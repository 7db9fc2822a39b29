"""A run as a notebook shows it: one small table that needs nothing from elsewhere."""

from collections.abc import Mapping
from html import escape
from typing import Any

_RIGHT, _WRONG, _UNKNOWN = "#1a7f37", "#cf222e", "#6e7781"


def summary_as_html(summary: Mapping[str, Any], what: str, defaults: Mapping[str, object]) -> str:
    """The design, the parameters that differ from its defaults, the figures, and the verdict of the check."""
    given = {name: value for name, value in summary["parameters"].items() if value != defaults.get(name)}
    latency = summary["latency_cycles"]
    rows = {
        "parameters": ", ".join(f"{name}={value}" for name, value in given.items()) or "all as by default",
        "tuples": f"{summary['tuples']:,}",
        "results": f"{summary['results']:,}",
        "cycles": f"{summary['cycles']:,}",
        "tuples a cycle": f"{summary['tuples_per_cycle']:.4g}",
    }
    if latency["min"] is not None:
        rows["latency in cycles"] = ", ".join(f"{name} {value:g}" for name, value in latency.items())
    if summary["dropped"]:
        rows["dropped"] = f"{summary['dropped']:,}"
    if summary["overflows"]:
        rows["overflows"] = f"{summary['overflows']:,}"
    verdict, colour = _verdict(summary["check"])
    lines = "".join(_row(name, escape(value)) for name, value in rows.items())
    check = _row("check", f'<strong style="color: {colour}">{escape(verdict)}</strong>')
    caption = f"<strong>{escape(summary['design'])}</strong>: {escape(what)}"
    return f'<table><caption style="text-align: left">{caption}</caption><tbody>{lines}{check}</tbody></table>'


def _row(name: str, value: str) -> str:
    return f'<tr><th style="text-align: left">{escape(name)}</th><td style="text-align: left">{value}</td></tr>'


def _verdict(check: str | Mapping[str, int]) -> tuple[str, str]:
    if isinstance(check, str):
        return check, _RIGHT if check == "exact" else _UNKNOWN
    counts = ", ".join(f"{count:,} {kind.replace('_', ' ')}" for kind, count in check.items() if count)
    return f"differs from the reference: {counts}", _WRONG
