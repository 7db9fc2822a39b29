"""The geometry of a low-latency handshake join, and the layouts of its places, marks and messages."""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property

from amaranth.hdl import Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.chain.window_store import WindowStore
from streamjoin.hdl.lib.ring import LappedRing
from streamjoin.hdl.llhj.hash_window_store import HashWindowStore


@dataclass(frozen=True)
class Expedition:
    """The geometry of one join and the layouts that follow from it; R travels to the right, S to the left.

    Homes go round: tuple after tuple of a stream goes to core after core, within a core to place after place of its
    ring. A *mark* says how many tuples of a stream are meant, as a place and how many cores away from the message the
    next one has its home: cores on one side of that one are a place ahead. So cores need not know which they are.

    A message with ``valid`` brings a tuple on its expedition. It is ``fresh`` until it has come home, where it
    ``arrives`` with no more hops to go.

    A message to the right may punctuate instead of bringing a tuple: its tuple's ``order`` is then how many arrivals
    all cores have handled.

    Parameters
    ----------
    layout
        The tuples and when they make a pair.
    cores, lanes
        Cores in the chain, and how many resting tuples each of them compares in a cycle.
    windows
        Tuples in the windows of R and S.
    buckets
        If there is an index, into how many buckets keys are hashed in each core.
    """

    layout: TupleLayout
    _: KW_ONLY
    cores: int
    lanes: int
    windows: tuple[int, int]
    buckets: int | None = None

    @cached_property
    def window(self) -> dict[str, int]:
        """Tuples in the window of each stream."""
        return dict(zip("rs", self.windows, strict=True))

    @cached_property
    def rings(self) -> dict[str, LappedRing]:
        """What a core has for each stream."""
        # One row more than the window fills: it is used while word of what has expired goes round.
        rows = {side: -(-window // (self.cores * self.lanes)) + 1 for side, window in self.window.items()}
        return {side: LappedRing(self.lanes, number) for side, number in rows.items()}

    @cached_property
    def room(self) -> dict[str, int]:
        """Tuples of each stream that all cores together have room for."""
        return {side: ring.rows * self.lanes * self.cores for side, ring in self.rings.items()}

    @cached_property
    def slack(self) -> dict[str, int]:
        """How many of them are beyond the window."""
        return {side: self.room[side] - window for side, window in self.window.items()}

    @cached_property
    def marks(self) -> dict[str, data.StructLayout]:
        hops = range(self.cores + 1)
        return {side: data.StructLayout({"place": ring.place, "hops": hops}) for side, ring in self.rings.items()}

    @cached_property
    def rightward(self) -> data.StructLayout:
        """A message to the right."""
        return data.StructLayout(
            {
                **self._travelling,
                "expired": self.marks["s"],
                "told": range(self.slack["s"] + 1),
                "acknowledges": 1,
                **self._punctuates,
            }
        )

    @cached_property
    def leftward(self) -> data.StructLayout:
        """A message to the left."""
        word = {"expired": self.marks["r"], "told": range(self.slack["r"] + 1), "ended": self.marks["r"]}
        return data.StructLayout({**self._travelling, **word})

    @cached_property
    def jobs(self) -> dict[str, data.StructLayout]:
        """What a message means for what rests of each stream at a core."""
        flags = dict.fromkeys(("probes", "rests", "needs_store", "fly", "land"), 1)
        what = {**flags, **self._punctuates, "tuple": self.layout.tuple}
        return {
            side: data.StructLayout({**what, "first": ring.place, "end": ring.place})
            for side, ring in self.rings.items()
        }

    @property
    def _travelling(self) -> dict:
        return {"valid": 1, "fresh": 1, "hops": range(self.cores), "arrives": 1, "tuple": self.layout.tuple}

    @property
    def _punctuates(self) -> dict:
        return {"punctuates": 1} if self.layout.numbered else {}

    def here(self, side: str, mark, *, rightward: bool):
        """The place that a mark means for the core where its message is."""
        ahead = mark.hops != 0 if rightward else mark.hops == 0
        ring = self.rings[side]
        return data.View(ring.place, Mux(ahead, ring.after(mark.place).as_value(), mark.place.as_value()))

    @property
    def latency(self) -> int:
        """Cycles from where a walk along a window store goes to what it shows."""
        return (WindowStore if self.buckets is None else HashWindowStore).LATENCY

    def window_store(self, side: str) -> WindowStore | HashWindowStore:
        """For what rests of a stream in a core."""
        shape, ring = self.layout.tuple, self.rings[side]
        return WindowStore(shape, ring) if self.buckets is None else HashWindowStore(shape, ring, self.buckets)

    def channel(self, message) -> wiring.Signature:
        """From a core to its neighbour: a message is there when ``valid`` is up.

        It was decided on when ``room`` was up, two cycles ago.
        """
        return wiring.Signature({"message": Out(message), "valid": Out(1), "room": In(1)})


def closer(hops) -> Value:
    """The hops that are left after one more."""
    return Mux(hops == 0, 0, hops - 1)[: len(hops)]
