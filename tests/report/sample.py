"""Rows of a sweep that never ran: two designs, three targets, an estimate, a point that does not fit."""

from streamjoin.hdl.registry import find
from streamjoin.report.metrics import METRICS
from streamjoin.report.naming import Naming

RATES = (0.0, 1e-4, 1e-3, 0.01, 0.1, 1.0)
CLOCKS = {"ecp5-85k": "post-route", "xc7": "logic-delay estimate", "max10": None}


def run(rate, window, most, latency, check="exact"):
    """A run whose input is held back by the output as soon as results are more than one a cycle."""
    tuples = 20_000
    results = int(tuples * rate * window)
    limit = min(2.0, tuples / results) if results else 2.0
    tuples_per_cycle = min(most, 0.97 * limit)
    return {
        "match_rate": rate,
        "tuples": tuples,
        "results": results,
        "cycles": int(tuples / tuples_per_cycle),
        "tuples_per_cycle": tuples_per_cycle,
        "results_per_cycle": results * tuples_per_cycle / tuples,
        "latency_cycles": {
            name: share * latency // 2 if results else None
            for name, share in (("min", 1), ("mean", 2), ("p50", 2), ("p99", 4), ("max", 6))
        },
        "latency_histogram": {
            "edges": [latency * (5 + n) // 10 for n in range(26)],
            "counts": [(n + 1) * (25 - n) ** 2 for n in range(25)] if results else [0] * 25,
        },
        "limit": limit,
        "check": check,
        "verilog": f"{window}-{most}",
    }


def cost(target, mhz, luts, window, most):
    clock = CLOCKS[target]
    seeds = {1: mhz - 6, 2: mhz, 3: mhz + 4} if clock == "post-route" else {0: 2 * mhz} if clock else {}
    values = sorted(seeds.values())
    return {
        "target": target,
        "clock": clock,
        "fmax_mhz": {
            "median": values[len(values) // 2] if values else None,
            "min": min(values, default=None),
            "max": max(values, default=None),
            "seeds": {str(seed): value for seed, value in seeds.items()},
        },
        "luts": luts,
        "ffs": int(1.2 * luts),
        "brams": 0 if window < 100 else 4,
        "lutrams": 0,
        "critical_path": {
            "nanoseconds": 6.25,
            "levels": 4,
            "routing_share": 0.6,
            "steps": [{"part": "core0.matches", "kind": "FIFO"}, {"part": "", "kind": "HandshakeJoin"}],
        },
        "versions": {"yosys": "0.70"},
        "seconds": 1.5,
        "verilog": f"{window}-{most}",
    }


def row(design, choices, target, most, mhz, luts, latency, fits=True, check="exact"):
    parameters = find(design).parameters(
        **{**choices, "window": 8 * int(choices["cores"])} if "cores" in choices else choices
    )
    window = parameters.window_r
    sentence = f"{design} needs {luts} LUTs, {target} has 30000: take fewer cores or a larger target"
    failures = [] if fits else [{"step": "synthesis", "kind": "does not fit", "sentence": sentence}]
    if check != "exact":
        failures.append({"step": "simulation", "kind": "wrong result", "sentence": check})
    return {
        "design": design,
        "choices": {**choices, "window": "8*cores"} if "cores" in choices else choices,
        "parameters": parameters.as_dict(),
        "comparisons_per_cycle": parameters.comparisons_per_cycle,
        "target": target,
        "runs": [run(rate, window, most, latency, check) for rate in RATES],
        "cost": cost(target, mhz, luts, window, most) if target and fits else None,
        "failures": failures,
    }


def sample_rows(targets=tuple(CLOCKS), cores=(2, 4, 8, 16, 32)):
    rows = []
    for target in targets:
        for number in cores:
            parallel = {"cores": str(number), "scan": "parallel"}
            sequential = {"cores": str(number), "scan": "sequential"}
            rows.append(
                row("handshake", parallel, target, 1.97, 160 - number / 4, 1500 * number, 4 * number + 9, number < 32)
            )
            rows.append(row("handshake", sequential, target, 0.095, 172 - number / 5, 420 * number, 90 + 9 * number))
        rows.append(row("nested-loop", {"window": "64"}, target, 0.03, 150, 700, 40))
    return rows


def sample(**options):
    """What ``gather`` would give for these rows."""
    rows = sample_rows(**options)
    naming = Naming.of(rows)
    figures = [{name: metric.of(row) for name, metric in METRICS.items()} for row in rows]
    targets = [target for target in dict.fromkeys(row["target"] for row in rows) if target]
    return {
        "title": "Handshake join over cores & scans",
        "date": "2026-01-02T03:04:05+00:00",
        "command": "streamjoin sweep handshake,nested-loop -p cores=2,4,8,16,32 -p window=8*cores -o out",
        "machine": "2 cores, x86_64, Python 3.11.7",
        "versions": {"streamjoin": "0.1.0", "amaranth": "0.5.10"},
        "settings": {"match_rates": list(RATES), "tuples": 20_000, "targets": targets, "seeds": 3},
        "metrics": {m.name: {"label": m.label, "unit": m.unit, "better": m.better} for m in METRICS.values()},
        "rows": [
            {"label": naming.label(row), **row, "metrics": values} for row, values in zip(rows, figures, strict=True)
        ],
        "refused": [
            {
                "design": "handshake",
                "choices": {"scan": "parallel", "storage": "memory"},
                "sentence": "scan=parallel sees a whole segment at once: take storage=registers, or scan=sequential",
            }
        ],
    }
