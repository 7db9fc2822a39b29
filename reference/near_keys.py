"""Pairs of tuples with equal or near keys, for two streams and millions of tuples.

All are sorted at once, by key and then by arrival. Tuples with the same key then lie together as they arrived: those of
the other stream that a tuple can have met end just before it, and they begin where its window does. Keys that need only
be near are put into buckets as wide as they may be apart; those of a pair are in the same bucket or in neighbours.
"""

import numpy as np

from .key_bounds import Pairs, expand


def near_pairs(key: np.ndarray, is_s: np.ndarray, oldest: np.ndarray, low: int, high: int) -> Pairs:
    """All pairs (arrival number of R's tuple, that of S's) with r.key - s.key in [low, high], each once, some of them
    at a time.

    Parameters
    ----------
    key : of each arrival; none is negative, and none so large that adding a bound would leave 64 bits
    is_s : whether it is of the second stream
    oldest : the arrival number from which on it sees tuples of the other stream
    """
    shifted = key + np.where(is_s, max(low, 0), max(-low, 0))  # differences now begin with 0
    bits = (high - low).bit_length()
    if not bits:
        yield from _equal_pairs(shifted, is_s, oldest)
        return
    bucket = shifted >> bits
    for neighbour in (0, 1):
        yield from _within(_equal_pairs(bucket + neighbour * is_s, is_s, oldest), shifted, high - low)


def _within(pairs: Pairs, shifted: np.ndarray, most: int) -> Pairs:
    for r, s in pairs:
        distance = shifted[r] - shifted[s]
        found = (distance >= 0) & (distance <= most)
        yield r[found], s[found]


def _equal_pairs(key: np.ndarray, is_s: np.ndarray, oldest: np.ndarray) -> Pairs:
    """The same for keys that are equal."""
    width = len(key).bit_length()
    mask = (1 << width) - 1
    if int(key.max(initial=0)).bit_length() + width > 63:
        key = np.unique(key, return_inverse=True)[1]  # their ranks will do, and take fewer bits
    codes = np.sort((key << width) | np.arange(len(key)))
    numbers = codes & mask
    least = codes - numbers + oldest[numbers]
    is_s = is_s[numbers]
    places = np.flatnonzero(~is_s), np.flatnonzero(is_s)
    for arriving in (0, 1):
        own, others = places[arriving], codes[places[1 - arriving]]
        if not len(others):
            return
        stop = own - np.arange(len(own))  # so many of the others come before each
        begin = least[own]
        # Few find anything; only they are asked where it begins.
        found = np.flatnonzero((others[stop - 1] >= begin) & (stop > 0))
        later, first = numbers[own[found]], np.searchsorted(others, begin[found])
        for row, position in expand(first, stop[found]):
            here, there = later[row], others[position] & mask
            yield (here, there) if arriving == 0 else (there, here)
