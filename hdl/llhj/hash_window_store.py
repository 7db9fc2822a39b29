"""The hash window store of a core: the tuples of one stream that rest there, found by their key."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, memory

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.chain.window_store import store_ports
from streamjoin.hdl.lib.hashing import bucket_of
from streamjoin.hdl.lib.ram import NEVER_COLLIDES
from streamjoin.hdl.lib.ring import LappedRing, between


class HashWindowStore(Part):
    """A :class:`WindowStore` of which a walk sees only tuples whose keys hash to the same bucket.

    The tuples of a bucket make a queue: with each goes where its predecessor is, and the bucket knows the youngest.
    A walk goes from the youngest back to where tuples no longer count.

    Expiry. Nothing is ever taken out of a queue. What has expired is older than all that counts, so a walk ends at the
    first tuple that does not lie between ``first`` and the one before it. A place may by then hold another tuple, and a
    bucket that saw none for long may point at it. Then that tuple is not of this bucket, or the bucket would point at
    it rightly; and so neither are those that it leads to. Hence a walk may see tuples of other buckets, whose keys
    differ, but it sees none twice and misses none.

    Reset. So it does not matter where a bucket points before its first tuple, as long as it is a place: of tuples
    only those are looked at that have been stored since. But a memory may hold anything: the number of a row beyond the
    last one, which lies between two places of different laps, or what a simulator takes for unknown, of which nobody
    can say where it lies. So after a reset all buckets come to point at the first place, one in a cycle.

    Cost. A walk takes four cycles and two for each tuple that it sees, if ``go`` is up; storing takes four. Before the
    first of these after a reset, there has to be a cycle for each bucket.

    Parameters
    ----------
    shape
        What a tuple looks like; it has a ``key``.
    ring
        Places, one in each row.
    buckets
        A power of two.

    Members
    -------
    tuple, store, free, begin, first, end, hold, probe, resting, mask, busy
        As there.
    walking, go
        There is a tuple to be seen, or may be; it may be.
    ready
        Another walk may begin, or a tuple be stored.
    """

    #: From the cycle in which a walk may go to a tuple to the one in which it is shown.
    LATENCY = 2

    def __init__(self, shape: data.StructLayout, ring: LappedRing, buckets: int):
        if ring.lanes != 1:
            raise ValueError(f"buckets are for rows of one tuple, not {ring.lanes}")
        if buckets < 1 or buckets & (buckets - 1):
            raise ValueError(f"the number of buckets is a power of two, not {buckets}")
        self._shape = shape
        self._ring = ring
        self._buckets = buckets
        super().__init__(store_ports(shape, ring))

    def elaborate(self, platform):
        m = Module()
        ring = self._ring
        lines = len(ring.line(self.first))
        tuples, youngest = self._memories(m, lines)
        write, read = tuples.write_port(), tuples.read_port()
        write_youngest, read_youngest = youngest.write_port(), youngest.read_port()

        probe = Signal(self._shape, reset_less=True)
        storing = Signal()
        at, below, oldest, end = (
            Signal(lines, name=name, reset_less=True) for name in ("at", "below", "oldest", "end_line")
        )
        bucket = Signal(range(self._buckets))
        clearing = Signal(init=1)
        m.d.comb += [
            read_youngest.addr.eq(bucket),
            write_youngest.addr.eq(bucket),
            write_youngest.data.eq(ring.line(self.free)),
            write_youngest.en.eq(clearing | write.en),
            read.addr.eq(at[:-1]),
            write.addr.eq(self.free.row),
            write.data.tuple.eq(probe),
            write.data.before.eq(at),
        ]
        with m.If(self.begin | self.store):
            m.d.sync += [
                probe.eq(self.tuple),
                bucket.eq(bucket_of(self.tuple.key, self._buckets)),
                storing.eq(self.store),
                oldest.eq(ring.line(self.first)),
                end.eq(ring.line(self.end)),
                below.eq(ring.line(self.free)),
            ]
        with m.If(clearing):  # with what is free until a tuple comes: the first place
            m.d.sync += [bucket.eq(bucket + 1), clearing.eq(bucket != self._buckets - 1)]

        counts = Signal()
        probing = Signal.like(probe)
        m.d.sync += [probing.eq(probe), self.probe.eq(probing), self.resting[0].eq(read.data.tuple), self.mask.eq(0)]
        with m.FSM() as fsm:
            with m.State("REST"):
                with m.If(self.begin | self.store):
                    m.next = "LOOK"
            with m.State("LOOK"):
                m.next = "FIND"
            with m.State("FIND"):
                m.d.sync += at.eq(read_youngest.data)
                with m.If(storing):
                    m.next = "STORE"
                with m.Else():
                    m.next = "SEE"
            with m.State("STORE"):
                m.d.comb += write.en.eq(1)
                m.d.sync += self.free.eq(ring.after(self.free))
                m.next = "REST"
            with m.State("SEE"):
                m.d.comb += self.walking.eq(1)
                with m.If(~between(oldest, at, below)):
                    m.next = "REST"
                with m.Elif(self.go):
                    m.d.sync += [below.eq(at), counts.eq(between(oldest, at, end))]
                    m.next = "SHOW"
            with m.State("SHOW"):
                m.d.sync += [at.eq(read.data.before), self.mask.eq(counts)]
                m.next = "SEE"
        m.d.comb += [
            self.ready.eq(fsm.ongoing("REST") & ~self.hold),
            self.busy.eq(~fsm.ongoing("REST") | self.mask),
        ]
        return m

    def _memories(self, m, lines: int):
        """Tuples, each with the line of the one before in its bucket; and for each bucket the line of the youngest."""
        resting = data.StructLayout({"tuple": self._shape, "before": lines})
        m.submodules.tuples = tuples = memory.Memory(
            shape=resting, depth=self._ring.rows, init=[], attrs=NEVER_COLLIDES
        )
        m.submodules.youngest = youngest = memory.Memory(
            shape=lines, depth=self._buckets, init=[], attrs=NEVER_COLLIDES
        )
        return tuples, youngest
