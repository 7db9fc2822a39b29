"""One-hot codes: priority, multiplexers and encoders."""

from collections.abc import Iterable
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Value, ValueLike
from amaranth.utils import ceil_log2


def highest_set(bits: Value) -> Value:
    """Of the bits that are up, the highest one alone: a priority arbiter."""
    return Cat(bit & ~bits[n + 1 :].any() if n + 1 < len(bits) else bit for n, bit in enumerate(bits))


def lowest_set(bits: Value) -> Value:
    """Of the bits that are up, the lowest one alone."""
    return bits & (~bits + 1)[: len(bits)]


def one_hot_mux(selects: Iterable[Value], values: Iterable[ValueLike]) -> Value:
    """The value whose bit of ``selects`` is up, if no other one is; 0 if none is.

    A tree of gates, where a chain of conditions would be a chain of multiplexers.
    """
    cast = [Value.cast(value) for value in values]
    return reduce(or_, (value & bit.replicate(len(value)) for bit, value in zip(selects, cast, strict=True)))


def one_hot_encode(one_hot: Value) -> Value:
    """The number of the bit that is up, in binary; 0 if none is."""
    bits = range(len(one_hot))
    return Cat(Cat(one_hot[n] for n in bits if n >> place & 1).any() for place in range(ceil_log2(len(one_hot))))
