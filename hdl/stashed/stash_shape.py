"""The geometry of a stashed join's first stage: the kinds of its work, its places, the layouts of its data."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Value
from amaranth.lib import data
from amaranth.utils import ceil_log2

from streamjoin.hdl.multiway.combination import Combination
from streamjoin.hdl.multiway.window_places import WindowPlaces

#: What is done for an arrival: one of S1 scans S2, one of S2 scans S1, one of S3 the stash, or S2 anew, which leads to
#: scans of S1 for what was found.
ONE, TWO, STASHED, ANEW, DEEP = range(5)


@dataclass(frozen=True)
class StashShape:
    """The places and layouts that all parts of the first stage share.

    A *position* is the number of a tuple in its stream, as far as ``spare_bits`` beyond what windows need go.

    Parameters
    ----------
    combination
        Layouts of the whole join.
    windows
        Tuples in the windows of S1 and S2.
    lanes
        Tuples, or pairs of the stash, that are compared in a cycle.
    room
        Pairs that the stash holds; with 0 there is none.
    slack
        Tuples that stay in their place beyond the window.
    spare_bits
        Bits of a position beyond those that windows need: the stash is emptied when these have gone half round.
    """

    combination: Combination
    windows: tuple[int, int]
    lanes: int
    room: int
    slack: int
    spare_bits: int

    @property
    def places(self) -> tuple[WindowPlaces, WindowPlaces]:
        """Those of S1 and of S2."""
        one, two = (WindowPlaces(window, self.slack, self.lanes) for window in self.windows)
        return one, two

    @property
    def stash_places(self) -> WindowPlaces:
        """Those of the stash: none without room."""
        return WindowPlaces(self.room, 0, self.lanes)

    @property
    def widest(self) -> WindowPlaces:
        """Of all these, those with the most rows."""
        stash = [self.stash_places] if self.room else []
        return max([*self.places, *stash], key=lambda places: places.rows)

    @property
    def position(self) -> int:
        # A quarter turn, after which the stash is emptied, is longer than a window and its slack.
        return ceil_log2(max(self.windows) + 2 * self.slack) + 1 + self.spare_bits

    @property
    def positions(self) -> data.StructLayout:
        """One of S1 and one of S2."""
        return data.StructLayout({"one": self.position, "two": self.position})

    @property
    def _time(self) -> dict:
        layout = self.combination.layout
        return {} if layout.spans is None else {"time": layout.tuple["time"].width}

    @property
    def stored(self) -> data.StructLayout:
        """What is kept of a tuple, beside what is compared."""
        return data.StructLayout({"part": self.combination.part, "position": self.position, **self._time})

    @property
    def compared(self) -> data.StructLayout:
        """What is compared of a pair in the stash."""
        return data.StructLayout({"keys": self.combination.keys, **self._time, **self.positions.members})

    @property
    def pair(self) -> data.StructLayout:
        """What results need of a pair."""
        return data.StructLayout({"one": self.combination.part, "two": self.combination.part})

    @property
    def probe(self) -> data.StructLayout:
        """What is compared with tuples and pairs; ``is_one``: it is of S1, so the others come after it."""
        return data.StructLayout({"keys": self.combination.keys, **self._time, "is_one": 1})

    @property
    def awaiting(self) -> data.StructLayout:
        """An arrival whose matches are awaited."""
        message = self.combination.message(1)
        return data.StructLayout({"message": message, "kind": range(DEEP), "position": self.position})

    def keys_of(self, message) -> Value:
        """The keys of an arriving tuple, or of the tuple of S2 in what was found for one of S3."""
        if self.combination.equi:
            return message.key
        return self.combination.layout.part(self.combination.keys, message.parts[0]).as_value()

    def time_of(self, item) -> Value:
        """The time of whatever has one; nothing where windows are not time-based."""
        return Const(0, 0) if self.combination.span is None else item.time

    def probe_of(self, message, is_one) -> Value:
        return Cat(self.keys_of(message), self.time_of(message), is_one)
