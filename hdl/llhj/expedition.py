"""What the parts of a low-latency handshake join agree on: places, marks and messages."""

from amaranth.hdl import Mux, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.chain.window_store import WindowStore
from streamjoin.hdl.lib.ring import LappedRing
from streamjoin.hdl.llhj.hash_window_store import HashWindowStore


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

    def __init__(
        self, layout: TupleLayout, *, cores: int, lanes: int, windows: tuple[int, int], buckets: int | None = None
    ):
        self.layout = layout
        self.cores = cores
        self.lanes = lanes
        self.windows = dict(zip("rs", windows, strict=True))
        # One row more than the window fills: it is used while word of what has expired goes round.
        self.rings = {
            side: LappedRing(lanes, -(-window // (cores * lanes)) + 1) for side, window in self.windows.items()
        }
        self.room = {side: ring.rows * lanes * cores for side, ring in self.rings.items()}
        self.slack = {side: self.room[side] - window for side, window in self.windows.items()}

        self.marks = {
            side: data.StructLayout({"place": ring.place, "hops": range(cores + 1)})
            for side, ring in self.rings.items()
        }
        tuples = {"valid": 1, "fresh": 1, "hops": range(cores), "arrives": 1, "tuple": layout.tuple}
        self.rightward = data.StructLayout(
            {
                **tuples,
                "expired": self.marks["s"],
                "told": range(self.slack["s"] + 1),
                "acknowledges": 1,
                **({"punctuates": 1} if layout.numbered else {}),
            }
        )
        self.leftward = data.StructLayout(
            {**tuples, "expired": self.marks["r"], "told": range(self.slack["r"] + 1), "ended": self.marks["r"]}
        )
        self.jobs = {
            side: data.StructLayout(
                {
                    **dict.fromkeys(("probes", "rests", "needs_shelf", "fly", "land"), 1),
                    **({"punctuates": 1} if layout.numbered else {}),
                    "tuple": layout.tuple,
                    "first": ring.place,
                    "end": ring.place,
                }
            )
            for side, ring in self.rings.items()
        }
        self.buckets = buckets
        self._settings = (layout, cores, lanes, windows, buckets)

    def __eq__(self, other):
        return isinstance(other, Expedition) and self._settings == other._settings

    def __hash__(self):
        return hash(self._settings)

    def here(self, side: str, mark, *, rightward: bool):
        """The place that a mark means for the core where its message is."""
        ahead = mark.hops != 0 if rightward else mark.hops == 0
        ring = self.rings[side]
        return data.View(ring.place, Mux(ahead, ring.after(mark.place).as_value(), mark.place.as_value()))

    @property
    def latency(self) -> int:
        """Cycles from where a walk along a shelf goes to what it shows."""
        return (WindowStore if self.buckets is None else HashWindowStore).LATENCY

    def shelf(self, side: str) -> WindowStore | HashWindowStore:
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
