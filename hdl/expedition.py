"""What the parts of a low-latency handshake join agree on: places, marks and messages."""

from amaranth.hdl import Cat, Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from streamjoin.hdl.pairing import Pairing


class Expedition:
    """The geometry of one join and the layouts that follow from it; R travels to the right, S to the left.

    Homes go round: tuple after tuple of a stream goes to core after core, within a core to lane after lane, and then
    to the next row. A *place* is a lane and a row; rows count to twice their number, so that full and empty differ.
    A *mark* says how many tuples of a stream are meant, as a place and how many cores away from the message the next
    one has its home: cores on one side of that one are a place ahead. So cores need not know which they are.

    Parameters
    ----------
    pairing
        The tuples and when they make a pair.
    cores, lanes
        Cores in the chain, and how many resting tuples each of them compares in a cycle.
    windows
        Tuples in the windows of R and S.
    """

    def __init__(self, pairing: Pairing, *, cores: int, lanes: int, windows: tuple[int, int]):
        self.pairing = pairing
        self.cores = cores
        self.lanes = lanes
        self.windows = dict(zip("rs", windows, strict=True))
        # One row more than the window fills: it is used while word of what has expired goes round.
        self.rows = {side: -(-window // (cores * lanes)) + 1 for side, window in self.windows.items()}
        self.room = {side: rows * lanes * cores for side, rows in self.rows.items()}
        self.slack = {side: self.room[side] - window for side, window in self.windows.items()}

        self.place = data.StructLayout({"lane": range(lanes), "row": range(2 * max(self.rows.values()))})
        self.mark = data.StructLayout({"place": self.place, "hops": range(cores + 1)})
        tuples = {"valid": 1, "fresh": 1, "hops": range(cores), "tuple": pairing.tuple, "expired": self.mark}
        self.rightward = data.StructLayout({**tuples, "told": range(self.slack["s"] + 1), "acknowledges": 1})
        self.leftward = data.StructLayout({**tuples, "told": range(self.slack["r"] + 1), "ended": self.mark})
        self.job = data.StructLayout(
            {
                **dict.fromkeys(("is_s", "scan", "store", "fly", "land"), 1),
                "tuple": pairing.tuple,
                "first": self.place,
                "end": self.place,
            }
        )
        self._settings = (pairing, cores, lanes, windows)

    def __eq__(self, other):
        return isinstance(other, Expedition) and self._settings == other._settings

    def __hash__(self):
        return hash(self._settings)

    def after(self, side: str, place):
        """The place that follows in the same core."""
        lane = Mux(place.lane == self.lanes - 1, 0, place.lane + 1)
        next_row = Mux(place.row == 2 * self.rows[side] - 1, 0, place.row + 1)
        row = Mux(place.lane == self.lanes - 1, next_row, place.row)
        lane_width, row_width = (self.place[field].width for field in ("lane", "row"))
        return data.View(self.place, Cat(lane[:lane_width], row[:row_width]))

    def address(self, side: str, place) -> Value:
        """Where in a lane's memory a place is."""
        rows = self.rows[side]
        return Mux(place.row >= rows, place.row - rows, place.row)[: ceil_log2(rows)]

    def here(self, side: str, mark, *, rightward: bool):
        """The place that a mark means for the core where its message is."""
        ahead = mark.hops != 0 if rightward else mark.hops == 0
        return data.View(self.place, Mux(ahead, self.after(side, mark.place).as_value(), mark.place.as_value()))

    def channel(self, layout) -> wiring.Signature:
        """From a core to its neighbour: a message is there when ``valid`` is up, which needs ``room`` in that cycle."""
        return wiring.Signature({"message": Out(layout), "valid": Out(1), "room": In(1)})


def closer(hops) -> Value:
    """The hops that are left after one more."""
    return Mux(hops == 0, 0, hops - 1)[: len(hops)]
