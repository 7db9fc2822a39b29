"""A batch of probing tuples, as the bands of keys that each of them is looking for.

Pan and Jacobsen 2018, section III-F.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..key_bounds import LAST, key_bounds
from ..predicates import Predicate

LAST_KEY = LAST - 1  # so that there is a bound beyond all keys


class Probe(NamedTuple):
    """Bands of keys, both ends included: bands × probes.

    Parameters
    ----------
    low, high : the ends: low from 0 up, high at most the last key
    negated : a match lies in none of the bands, instead of in one: two half-open bands are one that is left out
    """

    low: np.ndarray
    high: np.ndarray
    negated: bool = False

    @classmethod
    def of(cls, keys: np.ndarray, predicate: Predicate, keys_are_r: bool) -> "Probe":
        """What tuples of one stream are looking for in the other; fastest if their keys ascend.

        ValueError if the predicate does not tell where matches are.
        """
        ranges = predicate.key_ranges
        if ranges is None:
            raise ValueError(
                f"predicate {predicate.spec!r} has no key ranges to search for: "
                "compare r.key - s.key with numbers, or use a design that compares every pair"
            )
        negated = len(ranges) > 1 and ranges[0][0] is None and ranges[-1][1] is None
        if negated:
            # Only the outermost ends are open.
            between = ((before[1], after[0]) for before, after in pairwise(ranges))
            ranges = tuple((end + 1, start - 1) for end, start in between if end is not None and start is not None)
        low, high = (np.stack(ends) for ends in zip(*key_bounds(keys, ranges, keys_are_r), strict=True))
        return cls(np.maximum(low, 0), np.minimum(high, LAST_KEY), negated)

    @property
    def width(self) -> int:
        """How many probes there are."""
        return self.low.shape[1]

    def bands(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Bands of which one holds each match: those given or, if negated, those around and between them."""
        if not self.negated:
            return list(zip(self.low, self.high, strict=True))
        first = np.zeros_like(self.low[:1])
        low = np.concatenate([first, np.maximum(self.high + 1, 0)])
        high = np.concatenate([self.low - 1, first + LAST_KEY])
        return list(zip(low, high, strict=True))
