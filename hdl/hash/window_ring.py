"""The ring in which a window's tuples stay where they arrived: its size, and how long a place is safe."""

from dataclasses import dataclass

from amaranth.utils import ceil_log2

#: Tuples that may come between the cycle in which the guard asks for a halt and the last one that still enters, twice
#: over, and while a walk that has ended is still reading: see :class:`streamjoin.hdl.hash.slack_guard.SlackGuard`.
OVERSHOOT = 48
#: Places beyond the window, at least: fewer, and tuples wait for walks that are hardly delayed.
LEAST_SLACK = 256
#: Bits that the number of a tuple has beyond its place.
_LAPS = 3


@dataclass(frozen=True)
class WindowRing:
    """Places for ``window`` tuples and some slack, a power of two in all: a tuple's place is its number, cut off.

    Whether a place is still in the window is a matter of numbers, not of what the place holds: so nothing has to be
    done when a tuple expires. A walk that began when ``n`` tuples had come may look at those from ``n - window`` on,
    until it ends; the slack is how many may come meanwhile before one of them is overwritten.
    """

    window: int

    @property
    def bits(self) -> int:
        """Of a place."""
        return ceil_log2(self.window + LEAST_SLACK)

    @property
    def places(self) -> int:
        return 1 << self.bits

    @property
    def number_bits(self) -> int:
        """Of a tuple's number, of which its place is the lower part.

        Numbers wrap round, too, and one of long ago may look like one of the window. What follows from that is right,
        but in vain; with some more bits it is rare.
        """
        return self.bits + _LAPS

    @property
    def epoch(self) -> int:
        """Tuples in an epoch: walks end in the epoch after the one in which they began, at the latest."""
        return (self.places - self.window - OVERSHOOT) // 2
