"""A sweep written down: results.csv and results.json, plots as PNG, and one page that shows it all."""

import csv
import json
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from streamjoin.report.charts import Chart
from streamjoin.report.metrics import METRICS, fmax, tuples_per_second
from streamjoin.report.naming import Naming
from streamjoin.report.origin import origin
from streamjoin.report.page import render
from streamjoin.report.plots import (
    Rows,
    area_chart,
    clock_chart,
    comparisons_chart,
    cycles_chart,
    throughput_chart,
)
from streamjoin.report.run_plots import latency_chart, match_rate_chart
from streamjoin.support.files import whole_file
from streamjoin.synth.sweep.jobs import versions
from streamjoin.synth.sweep.run import Sweep


def write_report(sweep: Sweep, *, title: str, command: str) -> dict:
    """Everything into the sweep's folder, each file whole or not at all; returns what results.json holds."""
    folder = sweep.folder
    results = gather(sweep, title=title, command=command)
    charts = draw(results["rows"])
    (folder / "plots").mkdir(exist_ok=True)
    for stale in (folder / "plots").glob("*.png"):
        if stale.stem not in {chart.name for chart in charts}:
            stale.unlink()
    for chart in charts:
        with whole_file(folder / "plots" / f"{chart.name}.png") as path:
            chart.save(path)
    for name, text in (
        ("results.json", json.dumps(results, indent=1) + "\n"),
        ("report.html", render(results, charts)),
    ):
        with whole_file(folder / name) as path:
            path.write_text(text, encoding="utf-8")
    with whole_file(folder / "results.csv") as path:
        _write_csv(path, results["rows"])
    return results


def gather(sweep: Sweep, *, title: str, command: str) -> dict:
    """All that was measured and what it rests on, as plain data."""
    rows = sweep.rows()
    naming = Naming.of(rows)
    return {
        "title": title,
        **origin(),
        "command": command,
        "versions": {"streamjoin": version("streamjoin"), **versions(), **_tools(rows)},
        "settings": {
            "match_rates": list(sweep.settings.match_rates),
            "tuples": sweep.settings.tuples,
            "targets": list(sweep.settings.targets),
            "seeds": sweep.settings.seeds,
        },
        "metrics": {m.name: {"label": m.label, "unit": m.unit, "better": m.better} for m in METRICS.values()},
        "rows": [
            {
                "label": naming.label(row),
                **row,
                "metrics": {name: metric.of(row) for name, metric in METRICS.items()},
            }
            for row in rows
        ],
        "refused": [
            {"design": refusal.design, "choices": refusal.choices, "sentence": refusal.sentence}
            for refusal in sweep.grid.refusals
        ],
    }


def draw(rows: Sequence[dict]) -> list[Chart]:
    """The charts that these rows have anything to say for."""
    sweep = Rows(rows, Naming.of(rows))
    throughput = throughput_chart(sweep)
    charts = [
        throughput,
        clock_chart(sweep),
        cycles_chart(sweep) if throughput is None else None,
        comparisons_chart(sweep),
        area_chart(sweep),
        match_rate_chart(sweep),
        latency_chart(sweep),
    ]
    return [chart for chart in charts if chart is not None]


def _tools(rows: Sequence[dict]) -> dict[str, str]:
    return {name: number for row in rows if row["cost"] for name, number in row["cost"]["versions"].items()}


def _write_csv(path: Path, rows: Sequence[dict]) -> None:
    """A line for each row and match rate; figures of the synthesis stand in each."""
    parameters = list(dict.fromkeys(name for row in rows for name in row["parameters"]))
    lines = [line for row in rows for line in _csv_lines(row, parameters)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(lines[0]))
        writer.writeheader()
        writer.writerows(lines)


def _csv_lines(row: dict, parameters: list[str]) -> list[dict]:
    cost = row["cost"] or {}
    return [
        {
            "design": row["design"],
            **{name: row["parameters"].get(name) for name in parameters},
            "match_rate": run.get("match_rate"),
            **{
                name: run.get(name) for name in ("tuples", "results", "cycles", "tuples_per_cycle", "results_per_cycle")
            },
            "limit_tuples_per_cycle": run.get("limit"),
            **{
                f"latency_{name}": run.get("latency_cycles", {}).get(name)
                for name in ("min", "mean", "p50", "p99", "max")
            },
            "overflows": run.get("overflows"),
            "missing_by_overflow": run.get("missing_by_overflow"),
            "check": run.get("check"),
            "target": row["target"],
            "clock": cost.get("clock"),
            **{f"fmax_mhz_{which}": fmax(row, which) for which in ("median", "min", "max")},
            "tuples_per_second": tuples_per_second(row, run or None),
            **{name: cost.get(name) for name in ("luts", "ffs", "brams", "lutrams")},
            "comparisons_per_cycle": row["comparisons_per_cycle"],
            "comparisons_per_kilolut": METRICS["comparisons_per_kilolut"].of(row),
            "failure": "; ".join(f"{each['step']} {each['kind']}: {each['sentence']}" for each in row["failures"]),
        }
        for run in row["runs"] or [{}]
    ]
