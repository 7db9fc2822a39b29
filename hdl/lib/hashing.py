"""The hash function of indexes: which bucket a key belongs to."""

from functools import reduce
from operator import xor


def bucket_of(key, buckets: int):
    """All bits of the key, folded."""
    width = (buckets - 1).bit_length()
    if not width:
        return 0
    return reduce(xor, (key[bit : bit + width] for bit in range(0, len(key), width)))
