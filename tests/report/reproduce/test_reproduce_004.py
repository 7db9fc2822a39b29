"""Figures of Najafi et al. 2018: a small ring measured for real, and rules that fail where they should."""

import copy

import pytest

from streamjoin.reference.errors import DesignError
from streamjoin.report.reproduce.framework.entry import EntrySettings
from streamjoin.report.reproduce.framework.registry import ENTRIES
from streamjoin.report.reproduce.measuring import multiway
from streamjoin.report.reproduce.paper_004 import discard, figure_7, stash
from tests.report.reproduce.multiway_sample import SAMPLES, discard_sample, ring_sample, stash_sample


def doctored(data, within, change, **where):
    """The same data, but for some points."""
    data = copy.deepcopy(data)
    for point in data[within]:
        if all(point[name] == value for name, value in where.items()):
            change(point)
    return data


def slower(times):
    def change(point):
        point["steady"] /= times

    return change


def test_figure_7_measured_with_three_streams():
    data = figure_7.measure(EntrySettings(), streams=(3,), window=256, lanes=4)
    none, low, high = (run["steady"] for run in data["runs"])
    assert none == pytest.approx(3 * 4 / 256, rel=0.03)
    assert none > low > 2 * high
    assert data["runs"][0]["course"][0]["tuples_per_cycle"] > 2 * none
    assert [run["match_rate"] for run in data["runs"]] == [0, 1e-5 * 64, 1e-4 * 64]


def test_what_is_not_exact_is_no_figure(monkeypatch):
    monkeypatch.setattr("streamjoin.reference.compare.Difference.exact", False)
    with pytest.raises(DesignError, match="circular gives another result than the reference"):
        multiway.simulate("circular", {"window": 256, "lanes": 4, "flight": 64}, 0.0, 30)


def test_figure_7_wants_growth_with_the_streams_and_busy_stages():
    judge, data = figure_7.judge, ring_sample()
    assert judge(data).holds
    assert not judge(doctored(data, "runs", slower(1.06), streams=8, match_rate=0.0)).holds
    assert not judge(doctored(data, "runs", slower(1.06), match_rate=0.0)).holds


def test_figure_7_wants_a_warm_up():
    def flat(run):
        run["course"] = [{**point, "tuples_per_cycle": run["steady"]} for point in run["course"]]

    assert not figure_7.judge(doctored(ring_sample(), "runs", flat, streams=5)).holds


def test_figure_7_wants_little_of_a_low_and_much_of_a_high_match_probability():
    judge, data = figure_7.judge, ring_sample()
    assert not judge(doctored(data, "runs", slower(1.3), match_rate=1e-5, streams=3)).holds
    assert not judge(doctored(data, "runs", slower(1 / 1.5), match_rate=1e-4, streams=3)).holds
    assert not judge(doctored(data, "runs", slower(1 / 20), match_rate=1e-4, streams=8)).holds


def test_the_stash_has_to_gain_where_it_covers_what_lives():
    judge, data = stash.judge, stash_sample()
    assert judge(data).holds
    assert stash.covered(data, stash.COVERING) == [0.02, 0.05, 0.1, 0.25]
    assert not judge(doctored(data, "points", slower(1.2), design=stash.COVERING)).holds
    assert "a stash never pays" in str(judge(doctored(data, "points", slower(1 / 9), design=stash.RING)))


def test_the_stash_need_not_gain_what_no_split_of_the_comparators_could():
    judge, data = stash.judge, stash_sample()
    assert judge(doctored(data, "points", slower(2), design=stash.COVERING, matches=0.25)).holds
    assert not judge(doctored(data, "points", slower(1.1), design=stash.COVERING, matches=0.1)).holds


def test_drops_measured_with_a_small_window():
    data = discard.measure(EntrySettings(), window=64, lanes=2, matches=(0.1, 4.0))
    few, many = (discard.by_matches(data, "a quarter full")[matches] for matches in (0.1, 4.0))
    assert discard.lost(few) < discard.lost(many)
    assert many["missing"] > 0
    assert many["dropped"] > 0
    assert all(point["missing"] == 0 for point in data["points"] if point["threshold"] == discard.LOSSLESS)
    assert discard.gain(data, many) > 1


def test_drops_have_to_cost_little_where_figure_7_measures():
    judge, data = discard.judge, discard_sample()
    assert judge(data).holds

    def lose(point):
        point["missing"] = 200

    assert not judge(doctored(data, "points", lose, threshold="three quarters full", matches=1.0)).holds


def test_samples_are_of_all_entries():
    assert list(SAMPLES) == [name for name in ENTRIES if name.startswith("004-")]
