"""Plain pipeline registers: a value, some cycles later."""

from amaranth.hdl import Module, Signal, Value, ValueLike


def delayed(m: Module, value: ValueLike, cycles: int, *, resets: bool = False, name: str = "delayed") -> Value:
    """What ``value`` was ``cycles`` cycles ago; after a reset 0 if it ``resets``, else anything."""
    value = Value.cast(value)
    for cycle in range(cycles):
        late = Signal(value.shape(), name=f"{name}_{cycle + 1}", reset_less=not resets)
        m.d.sync += late.eq(value)
        value = late
    return value
