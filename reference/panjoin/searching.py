"""Rebounding binary search: the places of ascending targets, each sought from where the one before was found.

Forward the step doubles until a value is no longer below the target; from there a binary search goes back over the
last step. A target ``d`` places on costs about ``2 log2(d)`` comparisons, whatever the size of the array, so a sorted
batch pays little for its crowd (Pan and Jacobsen 2018, section III-E).
"""

import numpy as np


def rebounding_search(values, target, start: int) -> tuple[int, int]:
    """The first place from ``start`` on whose value is not below the target, and the comparisons it took.

    ``values`` ascend, and all before ``start`` are below the target.
    """
    step, low, high, comparisons = 1, start, start, 0
    while high < len(values):
        comparisons += 1
        if values[high] >= target:
            break
        low, high, step = high + 1, high + step, 2 * step
    high = min(high, len(values))
    while low < high:
        comparisons += 1
        middle = (low + high) // 2
        if values[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low, comparisons


def rebounding_search_batch(values, targets) -> tuple[list[int], int]:
    """The places of ascending targets, one after the other, and all comparisons together.

    The places are those of `numpy.searchsorted`, which the structures use: it too starts from the place before, and
    its loop is compiled. This one is the protocol, and tells what it costs.
    """
    place, places, total = 0, [], 0
    for target in targets:
        place, comparisons = rebounding_search(values, target, place)
        places.append(place)
        total += comparisons
    return places, total


def search_within(values: np.ndarray, first: np.ndarray, width: int, targets: np.ndarray) -> np.ndarray:
    """For each target the first place whose value is not below it, if it is known to lie in [first, first + width].

    All binary searches take their steps together; values ascend throughout.
    """
    low, step = first.copy(), 1 << width.bit_length() >> 1
    while step:
        low += step * (values[np.minimum(low + (step - 1), len(values) - 1)] < targets)
        step >>= 1
    # A search that ran beyond the end has found all values below its target.
    return np.minimum(low, len(values))
