"""Made-up records of Najafi et al. 2018 that hold, by the arithmetic that the designs follow."""

from streamjoin.report.reproduce.paper_004 import discard
from streamjoin.report.reproduce.paper_004.figure_7 import HIGH, LOW, NONE
from streamjoin.report.reproduce.paper_004.stash import MATCHES, RING, STASHED

WINDOW, LANES = 16384, 64


def ring_sample() -> dict:
    runs = []
    for rate in (NONE, LOW, HIGH):
        for streams in (3, 5, 8):
            scans = sum((rate * WINDOW) ** depth for depth in range(streams - 1))
            steady = streams * LANES / WINDOW / scans
            course = [{"tuples": 1000 * n, "tuples_per_cycle": steady * max(1, 8 - n)} for n in range(1, 21)]
            runs.append({"streams": streams, "match_rate": rate, "steady": steady, "course": course})
    return {"window": WINDOW, "lanes": LANES, "runs": runs}


def stash_sample() -> dict:
    window, lanes = 2048, 4
    points = [{"design": RING, "matches": matches, "steady": 3 * lanes / window / (1 + matches)} for matches in MATCHES]
    for name, (first, second, room) in STASHED.items():
        for matches in MATCHES:
            anew = 1 + matches if 2 * matches > room or not room else 2 * matches
            cycles = max((2 + anew) * window / first, 2 * matches * window / second)
            points.append({"design": name, "matches": matches, "steady": 3 / cycles})
    return {"window": window, "lanes": lanes, "points": points}


def discard_sample() -> dict:
    points = []
    for name, threshold in discard.THRESHOLDS.items():
        for matches in discard.MATCHES:
            kept = 1 if threshold is None or matches < 2 else 0.8
            steady = 1 / (1 + matches + kept * matches**2)
            results = round(10000 * kept)
            counts = {"results": results, "missing": 10000 - results, "dropped": 0}
            points.append({"threshold": name, "matches": matches, "steady": steady, **counts})
    return {"window": 1024, "points": points}


SAMPLES = {"004-discard": discard_sample, "004-figure-7": ring_sample, "004-stash": stash_sample}
