"""Ring buffers in rows: the places of a memory that is written and read round and round, ``lanes`` items to a row."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Mux, Value
from amaranth.lib import data


class Ring:
    """A ring of ``rows`` of ``lanes`` items each: item after item goes to lane after lane, and then to the next row.

    A *place* is a lane and a row. A *line* is all of a place but its lane: here its row. Subclasses are frozen
    dataclasses that say how many lanes and rows there are.
    """

    lanes: int
    rows: int

    @property
    def place(self) -> data.StructLayout:
        return data.StructLayout({"lane": range(self.lanes), "row": range(self.rows)})

    def line(self, place) -> Value:
        """The line of a place."""
        return place.row

    def after(self, place) -> data.View:
        """The place that follows."""
        last = place.lane == self.lanes - 1
        line = self.line(place)
        return data.View(self.place, Cat(_next(place.lane, last), Mux(last, self.line_after(line), line)))

    def line_after(self, line: Value) -> Value:
        """The line that follows."""
        return _next(line, line == self.rows - 1)


@dataclass(frozen=True)
class LappedRing(Ring):
    """A ring whose places have a lap, too, which changes whenever the last row has been passed: full and empty differ.

    A line is a row in one lap: its number, and the lap above it.
    """

    lanes: int
    rows: int

    @property
    def place(self) -> data.StructLayout:
        return data.StructLayout({**super().place.members, "lap": 1})

    def nth(self, number: int) -> dict[str, int]:
        """The place of an item, counted from 0, as a start value."""
        lines, lane = divmod(number, self.lanes)
        laps, row = divmod(lines, self.rows)
        return {"lane": lane, "row": row, "lap": laps % 2}

    def line(self, place) -> Value:
        return Cat(place.row, place.lap)

    def line_after(self, line: Value) -> Value:
        row, lap = line[:-1], line[-1]
        last = row == self.rows - 1
        return Cat(_next(row, last), lap ^ last)

    def line_before(self, place) -> Value:
        """The last line that has an item when ``place`` is the first free one."""
        first = place.row == 0
        before = Cat(Mux(first, self.rows - 1, place.row - 1)[: len(place.row)], place.lap ^ first)
        return Mux(place.lane != 0, self.line(place), before)


def _next(number: Value, last: Value) -> Value:
    """The number that follows, 0 after the last one."""
    return Mux(last, 0, number + 1)[: len(number)]


def between(first, place, end):
    """Whether a place comes at or after ``first`` and before ``end``, on a ring that is never full."""
    return Mux(first <= end, (first <= place) & (place < end), (first <= place) | (place < end))
