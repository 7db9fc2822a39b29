"""Multiples of a value, as sums of shifted ones."""

from amaranth.hdl import Const, Value


def times(value: Value, number: int) -> Value:
    """``value * number``, for which synthesis would spend a multiplier where the family has one."""
    shifted = [value << bit for bit in range(number.bit_length()) if number >> bit & 1]
    return sum(shifted[1:], start=shifted[0]) if shifted else Const(0)
