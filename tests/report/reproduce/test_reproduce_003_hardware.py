"""Figures of PanJoin's hardware: a small one measured for real, and rules that fail where they should."""

import copy

import pytest

from streamjoin.reference.errors import DesignError
from streamjoin.report.reproduce.framework.entry import EntrySettings
from streamjoin.report.reproduce.measuring.subwindows import BI_SORT, RAP_TABLE, WIB_TREE
from streamjoin.report.reproduce.paper_003 import figure_14, table_1
from streamjoin.report.reproduce.paper_003.figure_14 import HARDWARE, INSERTING, PROBING
from tests.report.reproduce.hardware_sample import K, area_sample, engines_sample

QUIET = EntrySettings()
UNITS = {"mergers": 2, "probers": 1}


def doctored(data, change, **where):
    data = copy.deepcopy(data)
    for point in data["points"]:
        if all(point[name] == value for name, value in where.items()):
            point.update(change)
    return data


@pytest.fixture(scope="module")
def small():
    sizes = {"subwindow": 1 << 12, "partitions": 1 << 8, "batches": (1 << 9,), "smaller": 4, "turns": 1}
    return figure_14.measure(QUIET, **sizes, units=UNITS)


def test_figure_14_measured_small(small):
    rates = {(point["what"], point["variant"]): point["rate"] for point in small["points"]}
    assert set(rates) == {
        (what, name) for what in (INSERTING, PROBING) for name in (HARDWARE, RAP_TABLE, WIB_TREE, BI_SORT)
    }
    # 128 tuples are merged into at most 512 by two mergers, a tuple a cycle each, once they know where to begin.
    assert 128 / (512 / 2 + 600) < rates[INSERTING, HARDWARE] / 250e6 < 128 / (256 / 2)
    assert len(figure_14.table(small).rows) == 1


def test_figure_14_measures_nothing_that_is_not_exact(monkeypatch):
    steps = figure_14.steps

    def one_too_many(*given):
        found, matches = steps(*given)
        matches[-1] += 1
        return found, matches

    monkeypatch.setattr(figure_14, "steps", one_too_many)
    with pytest.raises(DesignError, match="bisort finds 257 matches where there are 256"):
        figure_14._hardware(1 << 10, 1 << 6, 1 << 7, UNITS)


def test_figure_14_wants_hardware_ahead_past_the_crossing():
    judge, data = figure_14.judge, engines_sample()
    assert judge(data).holds
    assert judge(doctored(data, {"rate": 1e6}, variant=HARDWARE, batch=32 * K)).holds
    assert not judge(doctored(data, {"rate": 40e6}, what=INSERTING, variant=RAP_TABLE, batch=512 * K)).holds
    assert not judge(doctored(data, {"rate": 5e6}, what=PROBING, variant=WIB_TREE, batch=512 * K)).holds
    assert not judge(doctored(data, {"rate": 13e6}, what=INSERTING, variant=BI_SORT, batch=128 * K)).holds
    assert judge(doctored(data, {"rate": 37e6}, what=PROBING, variant=BI_SORT, batch=128 * K)).holds
    assert not judge(doctored(data, {"rate": 38e6}, what=PROBING, variant=BI_SORT, batch=128 * K)).holds


def test_table_1_wants_no_more_than_the_paper_takes():
    judge, data = table_1.judge, area_sample()
    assert judge(data).holds
    assert table_1.totals(data)["xc7"]["luts"] == 20_000
    assert [row[0] for row in table_1.table(data).rows[:4]] == [
        "paper",
        "xc7, mergers",
        "xc7, probers",
        "xc7, all",
    ]
    assert table_1.table(data).rows[-1][0::6] == ("ecp5-85k, small and whole", "99.5")
    assert judge(data).because.endswith("on ecp5-85k runs at 99.5 MHz")
    assert not judge(doctored(data, {"luts": 178_000}, target="cyclonev", part="probers")).holds
    assert not judge(doctored(data, {"memory_bits": 9 * 10**6})).holds
    assert not judge(doctored(data, {"multipliers": 1}, part="mergers")).holds


def test_table_1_measured_small():
    few = {"window": 16, "batch": 4, "partitions": 4, "mergers": 1, "probers": 1, "key_width": 4, "payload_width": 2}
    data = table_1.measure(QUIET, parameters=few, targets=("cycloneiv",), whole=few, whole_target="ecp5-25k")
    parts = {point["part"]: point for point in data["points"]}
    assert set(parts) == {"sorters", "batches", "mergers", "index", "probers"}
    assert all(point["luts"] > 0 for point in parts.values())
    assert data["whole"]["luts"] > parts["mergers"]["luts"]
    assert data["whole"]["fmax_mhz"]["median"] > 20
    assert table_1.judge(data).holds
