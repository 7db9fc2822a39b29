"""The places of a window in a multi-way join: a ring with room for its tuples and for some that have left it."""

from dataclasses import dataclass

from amaranth.lib import data

from streamjoin.hdl.lib.ring import Ring


@dataclass(frozen=True)
class WindowPlaces(Ring):
    """A ring with room for ``window`` tuples and ``slack`` more, rounded up to rows of ``lanes``.

    A *view* is where a window begins and how many tuples it holds: so many whole rows' worth, and the rest. It goes on
    over the rows from lane to lane, wherever in a row it begins.
    """

    window: int
    slack: int
    lanes: int

    @property
    def rows(self) -> int:
        return -(-(self.window + self.slack) // self.lanes)

    @property
    def view(self) -> data.StructLayout:
        whole = range(self.window // self.lanes + 1)
        return data.StructLayout({"first": self.place, "whole": whole, "rest": range(self.lanes)})
