"""What the parts of an asynchronous handshake join agree on: room and messages."""

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.ring import LappedRing


class Handover:
    """The geometry of one join and the layouts that follow from it; R travels to the right, S to the left.

    A message brings a tuple, or says that the oldest tuple of the other stream goes, or both. Where it is both, R
    enters before the tuple of S goes, and the tuple of R goes before S enters: R is the earlier of two that arrive
    together.

    Parameters
    ----------
    layout
        The tuples and when they make a pair.
    cores, lanes
        Cores in the chain, and how many resting tuples each of them compares in a cycle.
    windows
        Tuples in the windows of R and S.
    slack
        Tuples of either stream that a core may hold beyond its share, so that others go on while it is held up.
    link_queue, jobs, flight
        Messages from each neighbour, jobs for each window that may wait in a core, tuples of S that it may have
        forwarded without being acknowledged.

    Attributes
    ----------
    rooms
        How many tuples of each stream the first core of that stream takes; further ones never have more.
    """

    #: Tuples that still enter after their core has reported that it is full.
    _LATE = 3

    def __init__(
        self,
        layout: TupleLayout,
        *,
        cores: int,
        lanes: int,
        windows: tuple[int, int],
        slack: int,
        link_queue: int,
        jobs: int,
        flight: int,
    ):
        self.layout = layout
        self.cores = cores
        self.lanes = lanes
        self.windows = windows
        self.link_queue = link_queue
        self.jobs = jobs
        self.flight = flight
        # Removals on their way: in the queue and at its exit, in the queue of jobs, with one to spare, and at its exit.
        removals = link_queue + jobs + 3
        self.rooms = {side: (window + removals) // cores + slack for side, window in zip("rs", windows, strict=True)}
        most = {"r": self.rooms["r"] + self._LATE, "s": self.rooms["s"] + self._LATE + flight}
        self.rings = {side: LappedRing(lanes, -(-tuples // lanes)) for side, tuples in most.items()}
        self.loads = {side: range(tuples + 1) for side, tuples in most.items()}
        self.message = data.StructLayout({"enters": 1, "removes": 1, "tuple": layout.tuple})
        self.job = data.StructLayout({"probes": 1, "rests": 1, "needs_shelf": 1, "removes": 1, "tuple": layout.tuple})
        self._settings = (layout, cores, lanes, windows, slack, link_queue, jobs, flight)

    def __eq__(self, other):
        return isinstance(other, Handover) and self._settings == other._settings

    def __hash__(self):
        return hash(self._settings)

    def channel(self, side: str) -> wiring.Signature:
        """To the neighbour that tuples of one stream go to.

        Members
        -------
        message, valid
            A message is there when ``valid`` is up.
        room
            One with a tuple may be sent. There is always room for an acknowledgement.
        load
            How many tuples of the stream the neighbour has.
        """
        return wiring.Signature(
            {"message": Out(self.message), "valid": Out(1), "room": In(1), "load": In(self.loads[side])}
        )
