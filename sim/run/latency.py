"""Latencies in a few figures."""

import numpy as np


def latency_statistics(latencies: np.ndarray) -> dict[str, float | int | None]:
    """Minimum, mean, median, 99th percentile and maximum; all ``None`` if there are no results."""
    if not len(latencies):
        return dict.fromkeys(("min", "mean", "p50", "p99", "max"))
    p50, p99 = np.percentile(latencies, [50, 99])
    return {
        "min": int(latencies.min()),
        "mean": float(latencies.mean()),
        "p50": float(p50),
        "p99": float(p99),
        "max": int(latencies.max()),
    }
