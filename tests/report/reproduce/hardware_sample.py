"""Figures of PanJoin's hardware that nobody measured: all claims hold, until they are doctored."""

from streamjoin.report.reproduce.measuring.subwindows import BI_SORT, RAP_TABLE, WIB_TREE
from streamjoin.report.reproduce.paper_003 import table_1
from streamjoin.report.reproduce.paper_003.figure_14 import HARDWARE, INSERTING, PROBING

K = 1 << 10


def engines_sample():
    """Hardware is as fast as four of BI-Sort's threads, and ten of the others'."""
    rates = {HARDWARE: 40e6, BI_SORT: 10e6, RAP_TABLE: 4e6, WIB_TREE: 3e6}
    points = [
        {"what": what, "variant": name, "batch": batch, "rate": rate}
        for what in (INSERTING, PROBING)
        for name, rate in rates.items()
        for batch in (32 * K, 128 * K, 512 * K)
    ]
    return {"subwindow": 8 * K * K, "partitions": 64 * K, "smaller": 128, "clock": 250e6, "points": points}


def area_sample():
    counts = {"luts": 10_000, "ffs": 9000, "brams": 5, "memory_bits": 10**6, "multipliers": 0}
    points = [
        {"target": target, "part": part, **counts} for target in table_1.TARGETS for part in ("mergers", "probers")
    ]
    whole = {"target": "ecp5-85k@100", "parameters": table_1.WHOLE, **counts, "fmax_mhz": {"median": 99.5}}
    return {"parameters": table_1.PARAMETERS, "points": points, "whole": whole}
