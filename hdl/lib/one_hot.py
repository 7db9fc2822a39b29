"""One of several: which, and what it has."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Value, ValueLike


def deepest(bits: Value) -> Value:
    """Of the bits that are up, the last one alone."""
    return Cat(bit & ~bits[n + 1 :].any() if n + 1 < len(bits) else bit for n, bit in enumerate(bits))


def one_of(choices: Sequence[Value], values: Sequence[ValueLike]) -> Value:
    """The value whose bit of ``choices`` is up, if no other one is; 0 if none is.

    A tree of gates, where a chain of conditions would be a chain of multiplexers.
    """
    values = [Value.cast(value) for value in values]
    return reduce(or_, (value & bit.replicate(len(value)) for bit, value in zip(choices, values, strict=True)))
