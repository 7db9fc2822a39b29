"""How many results have to be held back to put all of them in the order of their later tuple."""

import numpy as np


def disorder(later: np.ndarray, start: int, stop: int) -> int:
    """The most results that are held at once to put all in the order of their ``later`` tuple, by who knows the future.

    A result is held until all that belong before it have come. Only the moments before results [start, stop) count.
    """
    rank = np.empty(len(later), dtype=np.int64)
    rank[np.argsort(later, kind="stable")] = np.arange(len(later))
    # All that rank below the first of those still to come are here, and can go.
    gone = np.minimum.accumulate(rank[::-1])[::-1]
    return int((np.arange(len(later)) - gone)[start:stop].max(initial=0))


def most_waiting(later: np.ndarray, position: np.ndarray, covered: np.ndarray) -> int:
    """The most results that are held at once if each waits for a punctuation that covers its ``later`` tuple.

    ``position`` and ``covered`` are those of :class:`streamjoin.reference.punctuations.Punctuations`, and were kept.
    """
    # It is fullest when a punctuation comes: of all results before it, those remain that the last one did not cover.
    released = np.searchsorted(np.sort(later), np.append(0, covered[:-1]))
    return int((position - released).max(initial=0))
