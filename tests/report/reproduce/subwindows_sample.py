"""Figures of PanJoin's subwindows that nobody measured: all claims hold, until they are doctored."""

from streamjoin.report.reproduce.measuring.subwindows import BI_SORT, RAP_TABLE, SORTED_ARRAY, SORTED_LIST, WIB_TREE
from streamjoin.report.reproduce.paper_003.figure_5 import KEYS, SIGMAS
from streamjoin.report.reproduce.paper_003.figure_10f import DISTRIBUTIONS
from streamjoin.report.reproduce.paper_003.figure_11f import SORTED, UNSORTED
from tests.report.reproduce.hardware_sample import area_sample, engines_sample

K, M = 1 << 10, 1 << 20


def table_sample():
    points = [
        {
            "structure": structure,
            "keys": keys,
            "sigma": sigma,
            "entries": 150,
            "allowed": 200,
            "places": 2 * sigma * 1000,
        }
        for keys in KEYS
        for sigma in SIGMAS
        for structure in (RAP_TABLE, WIB_TREE)
    ]
    return {"subwindow": 1000, "partitions": 100, "batch": 10, "points": points}


def splitters_sample():
    courses = [
        {"distribution": name, "partitions": count, "imbalance": [2.0, 1.0, 0.3, *[0.1] * 6], "least": 0.05}
        for count in (K, 16 * K)
        for name in DISTRIBUTIONS
    ]
    return {"subwindow": 2 * M, "courses": courses}


def leaves_sample():
    points = [{"batch": batch, "rates": {UNSORTED: 4e6, SORTED: 1e6}} for batch in (K, 4 * K)]
    return {"subwindow": 2 * M, "partitions": 16 * K, "points": points}


def insertion_sample():
    """A batch below the buffer costs what the buffer costs."""

    def points(variants):
        return [
            {"variant": variant, "batch": batch, "rate": max(batch, K) / (1e-8 * passes + 1e-7 * max(batch, K))}
            for variant, passes in variants.items()
            for batch in (16, K, 64 * K)
        ]

    return {
        "subwindow": 8 * M,
        "by_partitions": points({K: 8 * M, 64 * K: 8 * M}),
        "by_subwindow": points({M: M, 8 * M: 8 * M}),
    }


def probing_sample():
    points = [
        {"join": join, "partitions": count, "matches": matches, "found": matches, "rate": 4e6}
        for join in ("equi", "band")
        for count in (4 * K, 64 * K)
        for matches in (1, 64, 4096)
    ]
    return {"subwindow": 8 * M, "batch": 32 * K, "points": points}


def comparison(along, values, **rates):
    names = {"rap": RAP_TABLE, "wib": WIB_TREE, "bi": BI_SORT, "array": SORTED_ARRAY, "container": SORTED_LIST}
    points = [
        {"variant": names[name], along: at, "rate": rate}
        for name, line in rates.items()
        for at, rate in zip(values, line, strict=True)
    ]
    return {"subwindow": 8 * M, "partitions": 64 * K, "batch": 32 * K, "points": points}


def taking_sample():
    return comparison(
        "batch",
        (K, 64 * K, M),
        rap=(4e6, 8e6, 9e6),
        wib=(3e6, 7e6, 8e6),
        bi=(1e6, 8e6, 2e7),
        array=(5e5, 4e6, 1e7),
        container=(3e5, 4e5, 5e5),
    )


def searching_sample():
    return comparison(
        "matches",
        (1, 512, 16384),
        rap=(2e6, 1e6, 1e4),
        wib=(1e6, 5e5, 9e3),
        bi=(4e6, 4e6, 4e6),
        array=(2e6, 2e6, 2e6),
        container=(2e5, 2e5, 2e5),
    )


def joining_sample():
    rates = {"rap": (5e5, 6e5), "wib": (4e5, 5e5), "bi": (3e5, 7e5)}
    return {**comparison("batch", (K, 64 * K), **rates), "window": M, "results": 1000}


SAMPLES = {
    "003-figure-5": table_sample,
    "003-figure-10f": splitters_sample,
    "003-figure-11f": leaves_sample,
    "003-figure-12a": insertion_sample,
    "003-figure-12d": probing_sample,
    "003-figure-13a": taking_sample,
    "003-figure-13b": searching_sample,
    "003-figure-14": engines_sample,
    "003-figure-15a": joining_sample,
    "003-table-1": area_sample,
}
