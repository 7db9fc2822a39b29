"""Places for the tuples of a window and some more, in rows that go round."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Mux, Value
from amaranth.lib import data


@dataclass(frozen=True)
class Places:
    """Room for ``window`` tuples and ``slack`` more, rounded up to rows of ``lanes``.

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
    def place(self) -> data.StructLayout:
        return data.StructLayout({"lane": range(self.lanes), "row": range(self.rows)})

    @property
    def view(self) -> data.StructLayout:
        whole = range(self.window // self.lanes + 1)
        return data.StructLayout({"first": self.place, "whole": whole, "rest": range(self.lanes)})

    def row_after(self, row) -> Value:
        """The row that follows."""
        return Mux(row == self.rows - 1, 0, row + 1)[: self.place["row"].width]

    def after(self, place):
        """The place that follows."""
        last = place.lane == self.lanes - 1
        lane = Mux(last, 0, place.lane + 1)[: self.place["lane"].width]
        return data.View(self.place, Cat(lane, Mux(last, self.row_after(place.row), place.row)))
