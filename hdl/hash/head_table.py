"""The table of a hash window: for each bucket, where its youngest tuple is."""

from amaranth.hdl import Module, Mux
from amaranth.lib import data, memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.control_tree import Relay
from streamjoin.hdl.lib.pipeline import delayed
from streamjoin.hdl.lib.ram import NEVER_COLLIDES


class HeadTable(Part):
    """In each cycle one tuple may be entered and one bucket looked up; the tuple that enters comes first.

    Entering is no read-modify-write: what is written is where the tuple goes, whatever was there before, and what was
    there, which becomes the tuple's link, is read on the side. There are two copies of the table, one for each reader.
    Block RAM does not say what a word gives that is read while it is written. So the copy for links is written a cycle
    after it was read, and a tuple whose bucket had one in the cycle before gets that one's place instead of what it
    read; and a bucket that is looked up while a tuple enters it gets the place of that tuple.

    A bucket that has never been entered holds anything. Nothing is cleared: whoever uses a number knows how many tuples
    there are, and makes nothing of one that is none of theirs (:class:`~streamjoin.hdl.hash.hash_window.HashWindow`).

    Parameters
    ----------
    number
        What tells where a tuple is.
    buckets
        A power of two.

    Members
    -------
    enter, bucket, place
        A tuple is entered: into which bucket, and where it is stored.
    before
        What that bucket held, four cycles later.
    wanted
        The bucket that is looked up.
    youngest
        What it holds, four cycles later.
    """

    #: Cycles from a bucket to what it holds.
    LATENCY = 4

    def __init__(self, number: data.StructLayout, buckets: int):
        if buckets & (buckets - 1):
            raise ValueError(f"the number of buckets is a power of two, not {buckets}")
        self._number = number
        self._buckets = buckets
        bucket = max(1, ceil_log2(buckets))
        super().__init__(
            {
                "enter": In(1),
                "bucket": In(bucket),
                "place": In(number),
                "before": Out(number),
                "wanted": In(bucket),
                "youngest": Out(number),
            }
        )

    def elaborate(self, platform):
        m = Module()
        # Each copy has registers of its own for what comes to it: its block RAMs may be far from those of the other.
        # The reader of links minds the tuple of the cycle before, the other one that of the same cycle.
        for name, late, reads, result in (("links", 1, "bucket", self.before), ("heads", 0, "wanted", self.youngest)):
            here = {what: self._relay(m, name, what) for what in ("enter", "bucket", "place", "wanted")}
            enter = delayed(m, here["enter"], late, resets=True, name=f"enter_{name}")
            bucket, where = (delayed(m, here[what], late, name=f"{what}_{name}") for what in ("bucket", "place"))
            table = memory.Memory(shape=self._number, depth=max(2, self._buckets), init=[], attrs=NEVER_COLLIDES)
            m.submodules[name] = table
            write, look = table.write_port(), table.read_port()
            found = delayed(m, look.data, 1, name=f"found_{name}")
            meets = delayed(m, enter & (bucket == here[reads]), 2, name=f"meets_{name}")
            newer = delayed(m, where, 2, name=f"newer_{name}")
            m.d.comb += [look.addr.eq(here[reads]), write.addr.eq(bucket), write.data.eq(where), write.en.eq(enter)]
            m.d.sync += result.eq(Mux(meets, newer, found))
        return m

    def _relay(self, m, copy: str, what: str):
        """A port, a cycle later, in a register of the copy's own."""
        port = getattr(self, what)
        relay = Relay(port.shape(), resets=what == "enter")
        m.submodules[f"{what}_for_{copy}"] = relay
        m.d.comb += relay.i.eq(port)
        return relay.o
