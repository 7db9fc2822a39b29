"""Reproduced figures: measured for real where that is cheap, judged by their rule, and never blind to bad figures."""

import copy
import json
import re
from types import SimpleNamespace

import pytest

from streamjoin.report.reproduce.framework.entry import EntrySettings, Table
from streamjoin.report.reproduce.framework.record import Record, make, read, write_index
from streamjoin.report.reproduce.framework.registry import ENTRIES, choose
from streamjoin.report.reproduce.measuring import clocks as clocks_of_entries
from streamjoin.report.reproduce.measuring import throughput
from streamjoin.report.reproduce.measuring.throughput import BASELINE, PAPER
from streamjoin.report.reproduce.paper_000 import figure_18, table_1, table_2
from streamjoin.report.reproduce.paper_001 import figure_10, figure_11, figure_12, figure_13
from streamjoin.support.files import InputError
from streamjoin.synth.flow.errors import TooLargeError
from tests.pictures import assert_drawn
from tests.report.reproduce import chains_sample, multiway_sample, subwindows_sample

CORES, RATES = 8, (0, 0.1, 1.0)
SAMPLES = (chains_sample, subwindows_sample, multiway_sample)


@pytest.fixture(scope="module")
def rates():
    """Both figures of throughput, for eight cores."""
    return throughput.measure(EntrySettings(), cores=CORES, rates=RATES)


@pytest.fixture(scope="module")
def law():
    return table_1.measure(EntrySettings(), window=12, cores=(1, 3))


def doctored(data, change):
    data = copy.deepcopy(data)
    change(data)
    return data


def clocks(*mhz, variants=("sequential scan",), cores=(2, 8, 32)):
    """As place and route would give it."""
    return {
        "target": "ecp5-85k",
        "device": "a device",
        "clock": "post-route",
        "points": [
            {
                "variant": variant,
                "cores": count,
                "cost": None if each is None else {"fmax_mhz": {"median": each, "min": each - 5, "max": each + 3}},
            }
            for variant in variants
            for count, each in zip(cores, mhz, strict=False)
        ],
    }


def energy(*points):
    """The same figures for windows in registers and in memory."""
    names = ("cores", "register_changes", "net_changes", "luts")
    measured = [
        {"storage": storage, **dict(zip(names, point, strict=True))} for storage in table_2.STORAGES for point in points
    ]
    return {"window": 100, "target": "xc7", "points": measured}


def area(per_core, *, cores=(2, 4, 8), more=0):
    points = [{"cores": n, "luts": 300 + per_core * n + more * n * n, "ffs": 200 + 1800 * n} for n in cores]
    return {"target": "xc7", "points": points}


def test_table_1_holds_and_a_wasted_cycle_breaks_it(law):
    """12 comparisons a tuple shared by 1 and 3 cores, and five more a pair."""
    assert [point["cycles_per_tuple"] for point in law["points"]] == [14.5, 6.5]
    assert table_1.judge(law).holds
    row = dict(zip(*(table_1.table(law).head, table_1.table(law).rows[1]), strict=True))
    assert (row["cores"], row["ours, MHz"], row["ours, a stream"], row["less overhead"]) == (
        "3",
        "3.25",
        "6.50",
        "1.000",
    )

    verdict = table_1.judge(doctored(law, lambda data: data["points"][1].update(cycles_per_tuple=7.5)))
    assert not verdict.holds
    assert str(verdict).startswith("does not hold: clock × cores")


def test_figure_13_measured_with_eight_cores(rates):
    assert [buffer["inputs"] for buffer in rates["buffers"]] == [64, 128]
    for buffer in rates["buffers"]:
        # The nested loop's pair costs max(window) + 4 cycles; without matches handshake join is far ahead.
        loop, ours = buffer["series"][BASELINE][0], buffer["series"][PAPER][0]
        assert loop["cycles"] == pytest.approx((64 + 4) * buffer["inputs"], rel=0.03)
        assert ours["cycles"] < loop["cycles"]
        assert all(point["exact"] for points in buffer["series"].values() for point in points)

    def with_loop(cycles):
        return doctored(rates, lambda data: [b["series"][BASELINE][-1].update(cycles=cycles) for b in data["buffers"]])

    assert figure_13.judge(with_loop(100)).holds
    assert "overtaken from 100 % on" in figure_13.judge(with_loop(100)).because
    slow = figure_13.judge(with_loop(10**6))
    assert not slow.holds
    assert "never overtaken" in slow.because


def test_figure_13_wants_the_lead_at_low_rates_too(rates):
    behind = doctored(rates, lambda data: data["buffers"][0]["series"][PAPER][0].update(cycles=10**6))
    assert not figure_13.judge(behind).holds


def test_figure_12_output_gains_less_and_less(rates):
    assert figure_12.judge(rates).holds

    def straight(data):
        for point in data["buffers"][1]["series"][PAPER]:
            point.update(results=int(1000 * point["match_rate"]), cycles=1000)

    def falling(data):
        data["buffers"][0]["series"][PAPER][-1].update(results=1)

    assert not figure_12.judge(doctored(rates, straight)).holds
    verdict = figure_12.judge(doctored(rates, falling))
    assert not verdict.holds
    assert "output falls" in verdict.because


def test_figure_18_allows_the_spread_of_the_paper():
    judge = figure_18.judge
    both = tuple(figure_18.VARIANTS)
    assert judge(clocks(170, 160, 151, variants=both)).holds
    assert "k = 0.0" in judge(clocks(170, 160, 151)).because
    assert not judge(clocks(170, 160, 149)).holds
    assert not judge(clocks(120, 160, 165)).holds
    partly = judge(clocks(90, 90, None))
    assert partly.holds  # the absolute value is not what is claimed
    assert "does not fit" in partly.because
    assert not judge(clocks(None, None, None)).holds
    alone = judge(clocks(170, cores=(2,)))
    assert not alone.holds
    assert "nothing about a trend" in alone.because


def test_figure_10_wants_nearly_150_mhz():
    judge = figure_10.judge
    assert judge(clocks(160, 155, 143)).holds
    assert not judge(clocks(160, 155, 142)).holds
    assert "slowest with 32" in judge(clocks(160, 155, 142)).because
    assert not judge(clocks(None, None)).holds


def test_figure_11_wants_64_cores_to_fill_the_chip_and_128_not_to_fit():
    judge = figure_11.judge
    # 1300 LUTs a core are 55 % and 110 % of the chip, and with registers in other slices 94 %.
    assert judge(area(1300)).holds
    assert not judge(area(600)).holds
    assert not judge(area(2300)).holds
    assert not judge(area(1300, more=150)).holds
    assert not judge(area(1300, cores=(4,))).holds
    assert "on that line" in judge(area(1300)).because
    assert "on that line" not in judge(area(1300, cores=(2, 64))).because
    rows = {row[0]: row for row in figure_11.table(area(1300)).rows}
    assert rows["8"][5:] == ("10,700", "14,600")
    assert rows["64"][1] == "nearly 80"
    assert rows["128"][5] == "extrapolated"


def test_table_2_compares_where_the_least_lies():
    theirs = energy((1, 60, 40, 154), (2, 24, 40, 159), (5, 22, 40, 201), (10, 28, 40, 278))
    ours = table_2.relative(theirs)
    assert {cores: tuple(map(round, parts)) for cores, parts in ours.items()} == {
        1: (100, 68),
        2: (64, 70),
        5: (62, 89),
        10: (68, 123),
    }
    assert table_2.judge(theirs).holds
    # Did nothing but the scan switch, more cores would always be better.
    verdict = table_2.judge(energy((1, 60, 40, 154), (2, 30, 20, 159), (5, 12, 8, 160), (10, 6, 4, 165)))
    assert not verdict.holds
    assert "ours needs least with 10 cores" in verdict.because


def test_every_entry_draws_and_tabulates(rates, law, tmp_path):
    points = ((1, 60, 40, 154), (2, 24, 40, 159), (5, 22, 40, 201), (10, 28, 40, 278))
    samples = {
        "000-figure-18": clocks(170, 160, None, variants=tuple(figure_18.VARIANTS)),
        "000-table-1": law,
        "000-table-2": energy(*points),
        "001-figure-10": clocks(150, 151, 149),
        "001-figure-11": area(1300),
        "001-figure-12": rates,
        "001-figure-13": rates,
        **{name: sample() for module in SAMPLES for name, sample in module.SAMPLES.items()},
    }
    assert list(samples) == list(ENTRIES)
    origin = {
        "command": "streamjoin reproduce",
        "date": "2026-11-16",
        "machine": "an abacus",
        "versions": {"beads": "9"},
    }
    records = [Record(ENTRIES[name], data, 1.0, origin) for name, data in samples.items()]
    for record in records:
        record.write(tmp_path)
        name = record.entry.name
        assert_drawn(tmp_path / f"{name}.png")
        kept = json.loads((tmp_path / f"{name}.json").read_text())
        assert kept["verdict"]["holds"] is record.verdict.holds
        assert read(record.entry, tmp_path).verdict == record.verdict
    write_index(tmp_path)
    index = (tmp_path / "index.md").read_text()
    for record in records:
        assert f"![{record.entry.title}]({record.entry.name}.png)" in index
        assert str(record.verdict) in index
        assert f"**{record.entry.source}:** {record.entry.claim}" in index
        assert not re.search(r"paper 00\d", record.entry.chart(record.data).heading)
    assert not re.search(r"paper 00\d", index)
    assert "does not fit" in index
    assert index.count("`streamjoin reproduce` on 2026-11-16, an abacus; beads 9; 1 s.") == len(ENTRIES)
    (tmp_path / "000-table-1.json").unlink()
    write_index(tmp_path)
    assert "000-table-1" not in (tmp_path / "index.md").read_text()


def test_core_counts_and_seeds_reach_the_synthesis(monkeypatch):
    """Place and route takes minutes; what is asked of it is seen without."""
    asked, told = [], []

    def stand_in(component, target, *, name, seeds, jobs):
        if "8 cores" in name:
            raise TooLargeError(f"{name} does not fit")
        asked.append((type(component).__name__, target.name, name, seeds, jobs))
        return SimpleNamespace(as_dict=lambda: {"fmax_mhz": {"median": 150.0, "min": 149.0, "max": 151.0}})

    monkeypatch.setattr(clocks_of_entries, "measure", stand_in)
    settings = EntrySettings(cores=(2, 8), seeds=3, jobs=2, progress=told.append)
    record = make(ENTRIES["001-figure-10"], settings, "streamjoin reproduce")
    name = "handshake with 2 cores, as in Oge et al. 2011,"
    assert asked == [("HandshakeJoin", "ecp5-85k", name, 3, 2)]
    assert told[0] == f"{name} on ecp5-85k"
    fits, does_not = record.data["points"]
    assert (fits["parameters"]["scan"], fits["parameters"]["merger"]) == ("sequential", "three-state")
    assert (fits["parameters"]["window_r"], fits["parameters"]["core_queue"]) == (16, 8)
    assert does_not["failure"].endswith("does not fit")
    assert record.table.rows == [("2", "150", "150.0"), ("8", "150", "does not fit")]


def test_choose():
    assert [entry.name for entry in choose(["001-figure-13", "000-table-1", "001-figure-13"])] == [
        "001-figure-13",
        "000-table-1",
    ]
    assert len(choose([])) == len(ENTRIES)
    with pytest.raises(InputError, match="there is no figure '000-table-9'; there are 000-figure-18, "):
        choose(["000-table-9"])


def test_tables_line_up():
    table = Table(("a", "bb"), [("100", "2")])
    assert str(table) == "  a  bb\n100   2"
    assert table.as_markdown() == "| a | bb |\n| ---: | ---: |\n| 100 | 2 |"
