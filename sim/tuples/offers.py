"""When tuples are offered: for each of them the clock cycle from which it waits in front of a design.

A pure function of the number of tuples, the rate, the seed or the tuples' times; fewer tuples are offered in the same
cycles as the first of many.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

BURST = 16  # mean number of tuples that "bursty" offers at once

# Beyond this cycle nobody waits; and up to it the arithmetic below is exact.
_LAST = 1 << 40
# Random gaps are drawn in so small parts of a cycle, and added up without rounding.
_PARTS = 1 << 16
_WIDEST = 1 << 60


@dataclass(frozen=True, eq=False)
class Offers:
    """``cycle``: for each tuple that in which it is offered, never decreasing. ``rate``: tuples a cycle, on average."""

    cycle: np.ndarray
    rate: float

    def __len__(self) -> int:
        return len(self.cycle)


def even(count: int, rate: Fraction) -> Offers:
    """Tuple n in cycle ⌊n / rate⌋."""
    _check(count, rate)
    return Offers(even_cycle(np.arange(count), rate), float(rate))


def even_cycle(number: np.ndarray, rate: Fraction) -> np.ndarray:
    """⌊number / rate⌋, exactly, up to cycle 2^40."""
    number = np.asarray(number, np.int64)
    cycle = np.floor(number * (rate.denominator / rate.numerator)).astype(np.int64)
    # Rounding may have missed by one. What is left over is small, so it does not matter that both products wrap round.
    left = number * np.int64(rate.denominator) - cycle * np.int64(rate.numerator)
    return cycle + (left >= rate.numerator) - (left < 0)


def poisson(count: int, rate: Fraction, seed: int = 0) -> Offers:
    """Each so long after the one before as the next customer of a Poisson process, the first in cycle 0."""
    _check(count, rate)
    (gaps,) = _uniform(count, seed, 1)
    return Offers(_add_up(_exponential(gaps) / float(rate)), float(rate))


def bursty(count: int, rate: Fraction, seed: int = 0) -> Offers:
    """Bursts of tuples that are offered in the same cycle, as many as come before a first success of chance 1 / BURST;
    they come as single tuples do in :func:`poisson`."""
    _check(count, rate)
    gaps, ends = _uniform(count, seed, 2)
    return Offers(_add_up(np.where(ends * BURST < 1, _exponential(gaps) * (BURST / float(rate)), 0.0)), float(rate))


def by_time(time: np.ndarray, rate: Fraction | None = None) -> Offers:
    """One tick a cycle from the first tuple on, or slowed down or sped up to a rate."""
    if not len(time):
        return Offers(np.zeros(0, np.int64), float(rate or 0))
    ticks = np.asarray(time, np.int64) - int(time[0])
    lasts = int(ticks[-1]) + 1
    if rate is None:
        if lasts > _LAST:
            raise ValueError(
                f"the tuples' times are {lasts} ticks apart, too many cycles: give a rate to scale them to"
            )
        return Offers(ticks, len(ticks) / lasts)
    _check(len(ticks), rate)
    return Offers(np.floor(ticks * (len(ticks) / (float(rate) * lasts))).astype(np.int64), float(rate))


def _check(count: int, rate: Fraction) -> None:
    if rate <= 0:
        raise ValueError(f"a rate of {float(rate):g} tuples a cycle offers nothing: give more than 0")
    if count > rate * _LAST:
        raise ValueError(f"at {float(rate):g} tuples a cycle {count} tuples take more than 2^40 cycles: raise the rate")
    if max(rate.numerator, rate.denominator) >= _WIDEST:
        raise ValueError(f"a rate of {float(rate):g} has more digits than can be exact: give at most 18")


def _uniform(count: int, seed: int, columns: int) -> np.ndarray:
    """So many random numbers in [0, 1) for each tuple, a row each; those of a tuple do not depend on the count."""
    bits = np.random.Philox(seed).random_raw(count * columns).reshape(count, columns).T
    return (bits >> np.uint64(11)) * 2.0**-53


def _exponential(uniform: np.ndarray) -> np.ndarray:
    return -np.log1p(-uniform)


def _add_up(gaps: np.ndarray) -> np.ndarray:
    """The cycles at which gaps end, but for the first tuple, which is offered in cycle 0."""
    parts = np.rint(gaps * _PARTS).astype(np.int64)
    parts[:1] = 0
    return np.cumsum(parts) // _PARTS
