"""Figures of the chains of Roy et al. 2014 that nobody measured: all claims hold, until they are doctored."""

from streamjoin.report.reproduce.measuring.chains import HANDSHAKE, INDEXED, LOW_LATENCY, PUNCTUATED, window

SPAN = 1 << 20


def point(chain, cores, window_r=None, *, overhead=3):
    """As the model of equation 8 and the pace of a scan have it; the ratio of windows need not be 1."""
    window_s = window(cores, SPAN)
    window_r = window_r or window_s
    pair = (window_r + window_s) / cores + overhead
    bound = window_r * window_s / (window_r + window_s) * pair
    slow = chain == HANDSHAKE
    return {
        "chain": chain,
        "cores": cores,
        "window_r": window_r,
        "window_s": window_s,
        "tuples": 4 * window_s,
        "results": 30 * window_s,
        "steady_cycles": [int(window_s * pair), int(1.4 * window_s * pair)],
        "cycles_per_pair": pair,
        "latency": {
            "results": 1000,
            "mean": bound / 2 if slow else pair / 2 + 1.5 * cores,
            "max": int(bound if slow else pair + 3 * cores),
        },
        "disorder": 5 * window_s if slow else 20,
        "buffer": 40 + cores if chain == PUNCTUATED else None,
    }


def points(*chains, cores=(4, 8, 40)):
    return [point(chain, count, overhead=5 if chain == HANDSHAKE else 3) for chain in chains for count in cores]


def throughput_sample():
    return {"span": SPAN, "points": points(HANDSHAKE, LOW_LATENCY, PUNCTUATED)}


def latency_sample():
    halved = [point(chain, 40, window(40, SPAN) // 2) for chain in (HANDSHAKE, LOW_LATENCY)]
    return {"span": SPAN, "points": points(HANDSHAKE, LOW_LATENCY), "halved": halved}


def buffer_sample():
    return {"span": SPAN, "points": points(HANDSHAKE, PUNCTUATED)}


def model_sample():
    """Latency rises along with the windows' filling, and stays."""
    runs = []
    for window_r in (window(40, SPAN), window(40, SPAN) // 2):
        run = point(HANDSHAKE, 40, window_r)
        full, most = run["steady_cycles"][0], run["latency"]["max"]
        course = []
        for n in range(1, 19):
            rise = min(n, 10) / 10
            course.append({"cycle": n * full // 10, "mean": rise * most / 2, "deviation": most / 8, "max": rise * most})
        runs.append({**run, "course": course})
    return {"runs": runs}


def index_sample():
    paces = {HANDSHAKE: 2053.0, LOW_LATENCY: 2051.0, INDEXED: 8.5}
    found = [{"chain": chain, "tuples": 1000, "results": 10, "cycles_per_pair": pace} for chain, pace in paces.items()]
    return {"cores": 40, "window": 40_960, "points": found}


SAMPLES = {
    "002-figure-5": model_sample,
    "002-figure-17": throughput_sample,
    "002-figure-18": latency_sample,
    "002-figure-21": buffer_sample,
    "002-table-2": index_sample,
}
