"""Cycles in which tuples are offered: exact where they are even, right on average where they are random."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamjoin.sim.tuples.offers import BURST, bursty, by_time, even, even_cycle, poisson

RATES = st.one_of(
    st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**9),
    st.fractions(Fraction(1, 50), 200, max_denominator=50),
    st.decimals("0.00001", "999", places=12).map(Fraction),
)


@given(RATES, st.integers(0, 300))
def test_even_offers_are_exact(rate, count):
    offers = even(count, rate)
    assert offers.cycle.tolist() == [n * rate.denominator // rate.numerator for n in range(count)]
    assert offers.rate == float(rate)


@pytest.mark.parametrize("text", ["0.3", "1/3", "0.29", "49", "0.0588235294117647", "1.999999999999", "7e-4"])
def test_even_offers_do_not_drift_in_a_hundred_million_tuples(text):
    rate, number = Fraction(text), np.arange(10**8, 0, -9973)
    exact = [int(n) * rate.denominator // rate.numerator for n in number]
    assert even_cycle(number, rate).tolist() == exact


@pytest.mark.parametrize("pace", [poisson, bursty])
def test_random_offers_keep_the_rate_and_follow_the_seed(pace):
    rate, count = Fraction("0.07"), 200_000
    offers = pace(count, rate, seed=3).cycle
    assert offers[0] == 0
    assert (np.diff(offers) >= 0).all()
    assert count / offers[-1] == pytest.approx(0.07, rel=0.02)
    assert (offers == pace(count, rate, seed=3).cycle).all()
    assert (offers != pace(count, rate, seed=4).cycle).any()
    assert (offers[:100] == pace(100, rate, seed=3).cycle).all()


def test_gaps_of_poisson_offers_are_exponential():
    gaps = np.diff(poisson(200_000, Fraction("0.001"), seed=1).cycle)
    for share in (0.1, 0.5, 0.9, 0.99):
        assert np.quantile(gaps, share) == pytest.approx(-1000 * np.log(1 - share), rel=0.03)
    assert np.corrcoef(gaps[1:], gaps[:-1])[0, 1] == pytest.approx(0, abs=0.01)


def test_bursts_are_as_long_as_told():
    cycles, lengths = np.unique(bursty(200_000, Fraction("0.001"), seed=1).cycle, return_counts=True)
    assert lengths.mean() == pytest.approx(BURST, rel=0.03)
    assert lengths.std() == pytest.approx(BURST, rel=0.06)
    assert np.diff(cycles).mean() == pytest.approx(1000 * BURST, rel=0.03)


def test_by_time_a_tick_is_a_cycle_from_the_first_tuple_on():
    time = np.array([1_700_000_000, 1_700_000_000, 1_700_000_003, 1_700_000_009])
    offers = by_time(time)
    assert offers.cycle.tolist() == [0, 0, 3, 9]
    assert offers.rate == 4 / 10
    assert by_time(time, Fraction("0.1")).cycle.tolist() == [0, 0, 12, 36]
    assert by_time(time, Fraction(4)).cycle.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("pace", [even, poisson, bursty])
def test_no_tuples(pace):
    assert len(pace(0, Fraction(1))) == len(by_time(np.zeros(0, int))) == 0


@pytest.mark.parametrize(
    ("rate", "message"),
    [
        (Fraction(0), "a rate of 0 tuples a cycle offers nothing"),
        (Fraction(-1), "offers nothing"),
        (Fraction("1e-30"), "9 tuples take more than 2\\^40 cycles: raise the rate"),
        (Fraction("0.12345678901234567890123"), "has more digits than can be exact: give at most 18"),
    ],
)
def test_impossible_rates(rate, message):
    for pace in (even, poisson, bursty):
        with pytest.raises(ValueError, match=message):
            pace(9, rate)


def test_times_too_far_apart_ask_for_a_rate():
    far = np.array([0, 2**50])
    with pytest.raises(ValueError, match="give a rate to scale them to"):
        by_time(far)
    assert by_time(far, Fraction("0.5")).cycle.tolist() == [0, 3]
