"""Punctuations between results: what they promise, and whether it was kept."""

import dataclasses

import numpy as np

from .errors import DesignError

#: Bits of an arrival's number as designs carry it; beyond that it wraps round.
ORDER_WIDTH = 32
_WRAP = (1 << ORDER_WIDTH) - 1


@dataclasses.dataclass(frozen=True, eq=False)
class Punctuations:
    """What a design says about its results between them.

    Attributes
    ----------
    covered
        For each punctuation how many arrivals it covers: no result follows whose later tuple is one of them.
    position
        For each punctuation how many results came before it.
    order
        For each result the number of its later tuple among the accepted arrivals, as the design has it.
    """

    covered: np.ndarray
    position: np.ndarray
    order: np.ndarray

    @classmethod
    def among(cls, order: np.ndarray, mark: np.ndarray) -> "Punctuations":
        """Those among results and punctuations, of which ``mark`` tells the latter, given the number of each."""
        # Numbers wrap round; punctuations are never as far apart as that.
        steps = np.diff(order[mark], prepend=0) & _WRAP
        return cls(np.cumsum(steps), np.cumsum(~mark)[mark], order[~mark])

    def check(self, later: np.ndarray, accepted: int, *, ordered: bool) -> None:
        """DesignError if a promise was broken.

        ``later`` has for each result the number of its later tuple among the ``accepted`` arrivals; ``ordered`` is
        whether results are to come in its order.
        """
        wrong = np.flatnonzero(self.order != later & _WRAP)
        if wrong.size:
            raise DesignError(
                f"result {wrong[0]} says that it is of arrival {self.order[wrong[0]]}, but it is of {later[wrong[0]]}"
            )
        steps = np.diff(self.covered, prepend=0)
        if (steps <= 0).any():
            raise DesignError(
                f"punctuation {np.flatnonzero(steps <= 0)[0]} covers no more arrivals than the one before"
            )
        last = self.covered[-1] if self.covered.size else 0
        if last != accepted:
            raise DesignError(f"the last punctuation covers {last} of {accepted} arrivals")
        # The earliest of all results from each one on.
        earliest = np.append(np.minimum.accumulate(later[::-1])[::-1], accepted)
        broken = np.flatnonzero(earliest[self.position] < self.covered)
        if broken.size:
            first = broken[0]
            raise DesignError(
                f"after punctuation [{self.covered[first]}] came a result of arrival {earliest[self.position[first]]}"
            )
        if ordered and (np.diff(later) < 0).any():
            place = np.flatnonzero(np.diff(later) < 0)[0]
            raise DesignError(
                f"results are not in order: one of arrival {later[place]} came before one of {later[place + 1]}"
            )
