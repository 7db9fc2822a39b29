"""Overflows: tuples that leave a time-based window before their time is up, because it has no room for more."""

from amaranth.hdl import Module, Signal, Value

from streamjoin.hdl.lib.delay_line import DelayLine


def left_early(m: Module, side: str, leaves, old: Value, new: Value, span: int) -> Value:
    """Whether a tuple that left in the last cycle was too young to go.

    It came at the time ``old``, and the one that pushed it out at ``new``; ``leaves`` says that it did.
    """
    left = Signal(name=f"left_{side}")
    then, now = (Signal(old.shape(), name=f"{name}_{side}", reset_less=True) for name in ("then", "now"))
    m.d.sync += [left.eq(leaves), then.eq(old), now.eq(new)]
    return left & (now - then < span)


def pushed_out_early(m: Module, side: str, time: Value, enter, full, window: int, span: int) -> Value:
    """The same for whoever does not keep the window itself: a tuple that enters a full window pushes out the oldest."""
    m.submodules[f"times_{side}"] = times = DelayLine(time.shape(), window)
    m.d.comb += [times.shift.eq(enter), times.i.eq(time)]
    return left_early(m, side, enter & full, times.o, time, span)
