"""The ring in which a window's tuples stay where they arrived: its size, and how its places are counted."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Mux, Signal, Value
from amaranth.lib import data
from amaranth.utils import ceil_log2

#: Tuples that may come between the cycle in which the guard asks for a halt and the last one that still enters, twice
#: over, and while a walk that has ended is still reading: see :class:`streamjoin.hdl.hash.slack_guard.SlackGuard`.
OVERSHOOT = 48
#: Places beyond the window, at least: fewer, and tuples wait for walks that are hardly delayed.
LEAST_SLACK = 256
#: Bits of a number, and of a lap at least: as many as block RAMs of any depth hold without any left over.
_NUMBER, _LEAST_LAP = 16, 2
#: How many places there may be, times a power of two: two powers of two fill the block RAMs of a ring, and no more.
_FIFTHS = (4, 5, 6)


@dataclass(frozen=True)
class WindowRing:
    """Places for ``window`` tuples and some slack. A tuple's *number* is its place, and the lap in which it came.

    Whether a place is still in the window is a matter of numbers, not of what the place holds: so nothing has to be
    done when a tuple expires. A walk that began when ``n`` tuples had come may look at those from ``n - window`` on,
    until it ends; the slack is how many may come meanwhile before one of them is overwritten.

    Laps wrap round, and a number of long ago may look like one of the window. What follows from that is right, but in
    vain; with some more bits it is rare.

    Places are no power of two, so between the last place of a lap and the first one of the next, numbers jump over a
    ``hole``. A window is shorter than a lap: two numbers that matter have one hole between them, or none.
    """

    window: int

    @property
    def places(self) -> int:
        """How many there are."""
        least = self.window + LEAST_SLACK
        return min(part << max(0, ceil_log2(-(-least // part))) for part in _FIFTHS)

    @property
    def bits(self) -> int:
        """Of a place."""
        return ceil_log2(self.places)

    @property
    def hole(self) -> int:
        """How far numbers jump from lap to lap."""
        return (1 << self.bits) - self.places

    @property
    def number(self) -> data.StructLayout:
        return data.StructLayout({"place": self.bits, "lap": max(_LEAST_LAP, _NUMBER - self.bits)})

    @property
    def epoch(self) -> int:
        """Tuples in an epoch: walks end in the epoch after the one in which they began, at the latest."""
        return (self.places - self.window - OVERSHOOT) // 2

    def count(self, m, comes: Value) -> data.View:
        """The number of the next tuple, where ``comes`` says that there is one.

        Laps begin far from 0 and from -1, which are what most memories hold before anything is written: buckets that
        say so look empty, and save walks in vain.
        """
        number = Signal(self.number, init={"lap": 1 << self.number["lap"].width - 1})
        last = Signal()  # the place is the last one of a lap
        with m.If(comes):
            m.d.sync += [number.place.eq(number.place + 1), last.eq(number.place == self.places - 2)]
        with m.If(comes & last):
            m.d.sync += [number.place.eq(0), number.lap.eq(number.lap + 1)]
        return number

    def back(self, place: Value, steps: Value) -> tuple[Value, Value]:
        """Where ``steps + 1`` places back leads, but for the hole; and whether that is to be jumped over."""
        down = place - steps - 1
        return down[: self.bits], down[-1]

    def jumped(self, place: Value, jumps: Value) -> Value:
        """The same with the hole jumped over. Only the uppermost bits of a place know of it."""
        low = self._even
        return Cat(place[:low], (place[low:] - Mux(jumps, self.hole >> low, 0))[: self.bits - low])

    def is_place(self, place: Value) -> Value:
        """Whether there is such a place: what memories held before the reset may say anything."""
        return place[self._even :] < self.places >> self._even

    @property
    def _even(self) -> int:
        """So many of the lowest bits of the number of places are 0."""
        return (self.places & -self.places).bit_length() - 1
