"""Metrics know their direction, and never mix what cannot be compared."""

import pytest

from streamjoin.report.metrics import METRICS, Metric, tuples_per_second
from tests.report.sample import row, sample_rows


def best_of(name, rows):
    return [rows[number] for number in sorted(METRICS[name].best(rows))]


def test_better_drives_what_is_best():
    rows = sample_rows(targets=("ecp5-85k",), cores=(2, 4, 8))
    assert [(each["design"], each["cost"]["luts"]) for each in best_of("luts", rows)] == [("nested-loop", 700)]
    (fastest,) = best_of("fmax", rows)
    assert fastest["cost"]["fmax_mhz"]["median"] == max(each["cost"]["fmax_mhz"]["median"] for each in rows)
    (quickest,) = best_of("latency_p50", rows)
    assert quickest["parameters"]["cores"] == 2
    assert METRICS["fmax"].is_better(2, 1)
    assert METRICS["luts"].is_better(1, 2)
    with pytest.raises(ValueError, match="better is 'higher' or 'lower'"):
        Metric("x", "x", "", "larger", lambda _: None)


def test_hardware_is_compared_on_the_same_target_only():
    rows = sample_rows(cores=(2, 4))
    assert [each["target"] for each in best_of("fmax", rows)] == ["ecp5-85k", "xc7"]
    assert [each["target"] for each in best_of("luts", rows)] == ["ecp5-85k", "xc7", "max10"]
    estimates = [each["target"] for each in rows if METRICS["tuples_per_second"].is_estimate(each)]
    assert set(estimates) == {"xc7"}


def test_no_best_where_most_are_alike():
    rows = sample_rows(targets=("ecp5-85k",), cores=(2, 4))
    assert METRICS["brams"].best(rows) == set()


def test_a_wrong_design_is_the_best_at_nothing():
    rows = sample_rows(targets=("ecp5-85k",), cores=(2, 4))
    (best,) = METRICS["fmax"].best(rows)
    rows[best]["runs"][0]["check"] = "1 missing"
    assert METRICS["fmax"].best(rows) & {best} == set() != METRICS["fmax"].best(rows)
    rows[best]["runs"] = []
    rows[best]["failures"] = [{"step": "simulation", "kind": "misbehaves", "sentence": "nothing moves any more"}]
    assert METRICS["fmax"].best(rows) & {best} == set() != METRICS["fmax"].best(rows)


def test_throughput_is_cycles_times_the_clock_of_the_same_netlist():
    one = row("handshake", {"cores": "4", "scan": "parallel"}, "ecp5-85k", 1.5, 200.0, 4000, 10)
    assert tuples_per_second(one, one["runs"][0]) == pytest.approx(1.5 * 200e6)
    one["cost"]["verilog"] = "of another"
    assert tuples_per_second(one, one["runs"][0]) is None
    assert METRICS["latency_ns"].of(one) is None
    without = row("handshake", {"cores": "4", "scan": "parallel"}, "max10", 1.5, 200.0, 4000, 10)
    assert METRICS["tuples_per_second"].of(without) is None


def test_comparisons_per_kilolut():
    parallel = row("handshake", {"cores": "4", "scan": "parallel"}, "ecp5-85k", 1.5, 200.0, 4000, 10)
    sequential = row("handshake", {"cores": "4", "scan": "sequential"}, "ecp5-85k", 1.5, 200.0, 4000, 10)
    assert METRICS["comparisons_per_kilolut"].of(parallel) == 64 / 4
    assert METRICS["comparisons_per_kilolut"].of(sequential) == 4 / 4


def test_figures_as_text():
    metric = METRICS["luts"]
    assert [metric.text(value) for value in (None, 0, 12.0, 1.2345, 0.0951, 123456.7)] == [
        "",
        "0",
        "12",
        "1.23",
        "0.0951",
        "123,457",
    ]
