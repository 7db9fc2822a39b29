"""Xorshift, a scrambler of 32-bit words: the same function for gates, integers and arrays."""

WORD = 32
MASK = (1 << WORD) - 1


def xorshift32(x):
    """Marsaglia's xorshift: a bijection of 32-bit words that has no fixed point but 0.

    Each bit of the outcome is the exclusive or of a few bits of ``x``: two levels of gates. ``x`` may be an integer,
    an array of uint64, or an Amaranth value.
    """
    x = (x ^ (x << 13)) & MASK
    x = x ^ (x >> 17)
    return (x ^ (x << 5)) & MASK
