"""The geometry of an asynchronous handshake join, and the layouts of its messages."""

from dataclasses import KW_ONLY, dataclass
from functools import cached_property

from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.ring import LappedRing


@dataclass(frozen=True)
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
    """

    #: Tuples that still enter after their core has reported that it is full.
    _LATE = 3

    layout: TupleLayout
    _: KW_ONLY
    cores: int
    lanes: int
    windows: tuple[int, int]
    slack: int
    link_queue: int
    jobs: int
    flight: int

    @cached_property
    def rooms(self) -> dict[str, int]:
        """How many tuples of each stream the first core of that stream takes; further ones never have more."""
        # Removals on their way: in the queue and at its exit, in the queue of jobs, with one to spare, and at its exit.
        removals = self.link_queue + self.jobs + 3
        windows = zip("rs", self.windows, strict=True)
        return {side: (window + removals) // self.cores + self.slack for side, window in windows}

    @cached_property
    def _most(self) -> dict[str, int]:
        """Tuples of each stream in a core."""
        return {"r": self.rooms["r"] + self._LATE, "s": self.rooms["s"] + self._LATE + self.flight}

    @cached_property
    def rings(self) -> dict[str, LappedRing]:
        """What a core has for each stream."""
        return {side: LappedRing(self.lanes, -(-tuples // self.lanes)) for side, tuples in self._most.items()}

    @cached_property
    def loads(self) -> dict[str, range]:
        """How many tuples of each stream a core may have."""
        return {side: range(tuples + 1) for side, tuples in self._most.items()}

    @cached_property
    def message(self) -> data.StructLayout:
        return data.StructLayout({"enters": 1, "removes": 1, "tuple": self.layout.tuple})

    @cached_property
    def job(self) -> data.StructLayout:
        """What a message means for what rests of one stream at a core."""
        flags = dict.fromkeys(("probes", "rests", "needs_store", "removes"), 1)
        return data.StructLayout({**flags, "tuple": self.layout.tuple})

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
