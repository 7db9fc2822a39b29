"""Results in a few numbers: a count and two sums of hashes, the same whether NumPy or Spark SQL computes them.

The hash of a result is Spark's ``xxhash64`` of its arrival numbers. The lower and the upper 32 bits are added up apart,
so that sums of up to 2^31 results fit the 64 bits that SQL adds in. Sums do not depend on the order of results, and a
result that is there twice counts twice.
"""

from typing import NamedTuple

import numpy as np

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(prime)
    for prime in (
        0x9E3779B185EBCA87,
        0xC2B2AE3D27D4EB4F,
        0x165667B19E3779F9,
        0x85EBCA77C2B2AE63,
        0x27D4EB2F165667C5,
    )
)
_SEED = 42


class Checksum(NamedTuple):
    """Of some results."""

    count: int
    low: int
    high: int


def checksum(numbers: np.ndarray) -> Checksum:
    """Of results given as rows of arrival numbers."""
    hashes = xxhash64(numbers)
    low, high = hashes & np.uint64(0xFFFFFFFF), hashes >> np.uint64(32)
    return Checksum(len(hashes), int(low.sum()), int(high.sum()))


def xxhash64(rows: np.ndarray) -> np.ndarray:
    """The 64-bit xxHash of each row of integers, one column after the other, as Spark computes it."""
    rows = np.asarray(rows, np.int64)
    hashes = np.full(len(rows), _SEED, np.uint64)
    for column in rows.T:
        hashes = _add(hashes, np.ascontiguousarray(column).view(np.uint64))
    return hashes


def _add(seed: np.ndarray, value: np.ndarray) -> np.ndarray:
    hashes = (seed + _P5 + np.uint64(8)) ^ (_rotate(value * _P2, 31) * _P1)
    hashes = _rotate(hashes, 27) * _P1 + _P4
    hashes = (hashes ^ (hashes >> np.uint64(33))) * _P2
    hashes = (hashes ^ (hashes >> np.uint64(29))) * _P3
    return hashes ^ (hashes >> np.uint64(32))


def _rotate(value: np.ndarray, by: int) -> np.ndarray:
    return (value << np.uint64(by)) | (value >> np.uint64(64 - by))
