"""What tuples are recognised by: a payload for each arrival number, and the number of each payload.

The number itself would leave most bits of a payload at 0, and a design that loses one of them would pass every test. So
numbers are scrambled: whatever the width, neighbours differ in about half of the bits, and no two payloads are equal.
"""

import numpy as np
from numpy.typing import ArrayLike

# Roots of 5 and 3, as far as 64 bits go. They are odd, so that multiplying by them can be undone.
_FACTORS = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
# Numbers count from here: 0 would become 0, and so does what is lost on its way.
_START = 0x6A09E667F3BCC909
_GREATEST = np.iinfo(np.int64).max


def payloads(numbers: ArrayLike, width: int) -> np.ndarray:
    """The payloads of the tuples with these numbers; of greater numbers than fit, the lower ``width`` bits count.

    They are ``uint64``, and Python's integers where they are wider than that.
    """
    x = np.asarray(numbers).astype(np.uint64 if width <= 64 else object) + _widened(_START, width)
    for factor in _FACTORS:
        x = _folded(x * _widened(factor, width) & (1 << width) - 1, width)
    return x


def numbers(payloads: ArrayLike, width: int) -> np.ndarray:
    """The numbers of these payloads of at most 64 bits, as ``int64``.

    Every payload has one, even if no tuple had the payload. Numbers that ``int64`` cannot hold are halved: they are
    still greater than any that a tuple could have.
    """
    x = np.asarray(payloads).astype(np.uint64)
    for factor in reversed(_FACTORS):
        x = _folded(x, width) * pow(factor, -1, 1 << width) & (1 << width) - 1
    x = x - _START & (1 << width) - 1
    return np.where(x > _GREATEST, x >> 1, x).astype(np.int64)


def _widened(constant: int, width: int) -> int:
    """A constant of 64 bits repeated until it is as wide, so that it reaches every bit."""
    return sum(constant << shift for shift in range(0, width, 64))


def _folded(x: np.ndarray, width: int) -> np.ndarray:
    """The upper half of the bits exclusive-ored into the lower, which multiplying leaves poor; its own inverse."""
    return x ^ (x >> (width + 1) // 2)
