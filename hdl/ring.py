"""Places in a memory that is written and read row by row, round and round."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Mux, Value
from amaranth.lib import data
from amaranth.utils import ceil_log2


@dataclass(frozen=True)
class Ring:
    """``rows`` of ``lanes`` items each: item after item goes to lane after lane, and then to the next row.

    A *place* is a lane and a row; rows count to twice their number, so that full and empty differ.
    """

    lanes: int
    rows: int

    @property
    def place(self) -> data.StructLayout:
        return data.StructLayout({"lane": range(self.lanes), "row": range(2 * self.rows)})

    def after(self, place):
        """The place that follows."""
        last = place.lane == self.lanes - 1
        lane = Mux(last, 0, place.lane + 1)
        row = Mux(last, Mux(place.row == 2 * self.rows - 1, 0, place.row + 1), place.row)
        return data.View(self.place, Cat(lane[: self.place["lane"].width], row[: self.place["row"].width]))

    def address(self, place) -> Value:
        """The row's address in a memory of ``rows``."""
        return Mux(place.row >= self.rows, place.row - self.rows, place.row)[: ceil_log2(self.rows)]

    def row_before(self, place) -> Value:
        """The last row that has an item when ``place`` is the first free one."""
        before = Mux(place.row == 0, 2 * self.rows - 1, place.row - 1)
        return Mux(place.lane != 0, place.row, before)[: self.place["row"].width]
