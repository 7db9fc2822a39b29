"""The hash functions of indexes: which bucket a key belongs to."""

import random
from functools import reduce
from operator import xor

from amaranth.hdl import Cat, Const, Value

#: Bits of a key that one bit of a scattered key is made of, at most: two levels of gates with four inputs each.
_MOST_INPUTS = 16


def bucket_of(key, buckets: int):
    """All bits of the key, folded."""
    width = (buckets - 1).bit_length()
    if not width:
        return 0
    return reduce(xor, (key[bit : bit + width] for bit in range(0, len(key), width)))


def scattered(key: Value, width: int, seed: int) -> Value:
    """``width`` bits of a key, each of them the parity of some of its bits (see :func:`scatter_masks`)."""
    if not width or not len(key):
        return Const(0, width)
    return Cat((key & mask).xor() for mask in scatter_masks(len(key), width, seed))


def scatter_masks(bits: int, width: int, seed: int) -> list[int]:
    """Which bits of a key of so many bits make each bit of the bucket.

    Bit n of the key is in mask n alone among the low ones, so keys that differ only there never meet: dense keys, such
    as 0, 1, 2, … fill the buckets evenly. Each of the higher bits is in a mask with even chances, as far as two levels
    of gates go: a universal hash function of the higher bits, drawn by the seed.
    """
    draw = random.Random(seed)
    masks = []
    for bit in range(width):
        mask, count = (1 << bit if bit < bits else 0), 1
        for other in draw.sample(range(width, bits), max(0, bits - width)):
            if count < _MOST_INPUTS and draw.random() < 0.5:
                mask, count = mask | 1 << other, count + 1
        masks.append(mask)
    return masks
