"""The figures of a run, put together from what its segments reported."""

from statistics import median

import numpy as np

from streamjoin.reference.overflow import most_rooms
from streamjoin.sim.run.latency import latency_statistics


def verdict(reports: list[dict]) -> str | dict[str, int]:
    """ "exact", or how many segments are not, and how many results are missing by overflow."""
    kinds = {
        "differing_segments": sum("differs" in report for report in reports),
        "misbehaving_segments": sum("wrong" in report for report in reports),
        "failed_segments": sum("error" in report for report in reports),
        "missing_by_overflow": sum(report.get("missing_by_overflow", 0) for report in reports),
    }
    return kinds if any(kinds.values()) else "exact"


def figures(reports: list[dict]) -> dict:
    """The figures of all segments that came to their end, together."""
    ended = [report for report in reports if "results" in report]
    total = {
        name: sum(report[name] for report in ended)
        for name in ("tuples", "results", "cycles", "warm_up", "overflows", "missing_by_overflow", "stall_cycles")
    }
    seconds = [report["seconds"] for report in ended]
    cpu = {name: sum(report["cpu"][name] for report in ended) for name in ("generate", "simulate", "check")}
    return {
        **total,
        "segments": len(reports),
        "tuples_per_cycle": (total["tuples"] + total["warm_up"]) / total["cycles"] if total["cycles"] else None,
        "latency_cycles": _latency(ended),
        "skew": max(seconds) / median(seconds) if seconds else None,
        "retries": sum(report["attempt"] for report in reports),
        "workers": len({report["worker"] for report in reports}),
        "cpu_seconds": cpu,
        "check_share": cpu["check"] / sum(cpu.values()) if ended else None,
        "segment_list": [_line(report) for report in ended],
    }


def needed_rooms(reports: list[dict]) -> tuple[int, ...] | None:
    """The room that all segments together need, where windows are time-based."""
    return most_rooms(report.get("needed", ()) for report in reports) or None


def _latency(reports: list[dict]) -> dict:
    if not any(report["latency"] for report in reports):
        return latency_statistics(np.array([]))
    latency = np.concatenate([report["latency"] for report in reports]).astype(np.int64)
    frequency = np.concatenate([report["frequency"] for report in reports]).astype(np.int64)
    order = np.argsort(latency)
    latency, reached = latency[order], np.cumsum(frequency[order])

    def percentile(share: float) -> float:
        return float(latency[np.searchsorted(reached, share * reached[-1])])

    return {
        "min": int(latency[0]),
        "mean": float((latency * frequency[order]).sum() / reached[-1]),
        "p50": percentile(0.5),
        "p99": percentile(0.99),
        "max": int(latency[-1]),
    }


def _line(report: dict) -> dict:
    latency = _latency([report])
    kept = ("first", "tuples", "warm_up", "results", "cycles", "seconds", "attempt", "worker")
    return {name: report[name] for name in kept} | {"latency_p50": latency["p50"], "latency_p99": latency["p99"]}
