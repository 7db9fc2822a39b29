"""Multiplication by a constant as shifts and adds."""

from amaranth.hdl import Const, Value


def shift_add(value: Value, factor: int) -> Value:
    """``value * factor``, for which synthesis would spend a multiplier where the family has one."""
    shifted = [value << bit for bit in range(factor.bit_length()) if factor >> bit & 1]
    return sum(shifted[1:], start=shifted[0]) if shifted else Const(0)
