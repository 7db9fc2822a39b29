"""Plain pipeline registers: a value, some cycles later."""

from typing import Any

from amaranth.hdl import Module, Signal, Value, ValueCastable, ValueLike


def delayed(m: Module, value: ValueLike, cycles: int, *, resets: bool = False, name: str = "delayed") -> Any:
    """What ``value`` was ``cycles`` cycles ago, of the same shape; after a reset 0 if it ``resets``, else anything."""
    shape = value.shape() if isinstance(value, ValueCastable) else Value.cast(value).shape()
    for cycle in range(cycles):
        late = Signal(shape, name=f"{name}_{cycle + 1}", reset_less=not resets)
        m.d.sync += late.eq(value)
        value = late
    return value
