"""Places in a memory that is written and read row by row, round and round."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Mux, Value
from amaranth.lib import data


@dataclass(frozen=True)
class Ring:
    """``rows`` of ``lanes`` items each: item after item goes to lane after lane, and then to the next row.

    A *place* is a lane, a row and a lap, which changes whenever the last row has been passed, so that full and empty
    differ. A *line* is a row in one lap.
    """

    lanes: int
    rows: int

    @property
    def place(self) -> data.StructLayout:
        return data.StructLayout({"lane": range(self.lanes), "row": range(self.rows), "lap": 1})

    def nth(self, number: int) -> dict[str, int]:
        """The place of an item, counted from 0, as a start value."""
        lines, lane = divmod(number, self.lanes)
        laps, row = divmod(lines, self.rows)
        return {"lane": lane, "row": row, "lap": laps % 2}

    def after(self, place) -> data.View:
        """The place that follows."""
        last = place.lane == self.lanes - 1
        lane = Mux(last, 0, place.lane + 1)[: len(place.lane)]
        return data.View(self.place, Cat(lane, Mux(last, self.line_after(line(place)), line(place))))

    def line_after(self, line: Value) -> Value:
        """The line that follows."""
        row, lap = line[:-1], line[-1]
        last = row == self.rows - 1
        return Cat(Mux(last, 0, row + 1)[: len(row)], lap ^ last)

    def line_before(self, place) -> Value:
        """The last line that has an item when ``place`` is the first free one."""
        first = place.row == 0
        before = Cat(Mux(first, self.rows - 1, place.row - 1)[: len(place.row)], place.lap ^ first)
        return Mux(place.lane != 0, line(place), before)


def line(place) -> Value:
    """The line of a place: its row, and the lap above it."""
    return Cat(place.row, place.lap)


def between(first, place, end):
    """Whether a place comes at or after ``first`` and before ``end``, on a ring that is never full."""
    return Mux(first <= end, (first <= place) & (place < end), (first <= place) | (place < end))
