"""The window store of a core: the tuples of one stream that rest there, and a walk along them."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import memory
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.ram import NEVER_COLLIDES
from streamjoin.hdl.lib.ring import LappedRing


def store_ports(shape, ring: LappedRing) -> dict:
    """The ports of every window store, see :class:`WindowStore`."""
    return {
        "tuple": In(shape),
        "store": In(1),
        "free": Out(ring.place),
        "begin": In(1),
        "first": In(ring.place),
        "end": In(ring.place),
        "walking": Out(1),
        "go": In(1),
        "ready": Out(1),
        "hold": In(1),
        "probe": Out(shape),
        "resting": Out(shape).array(ring.lanes),
        "mask": Out(ring.lanes),
        "busy": Out(1),
    }


class WindowStore(Part):
    """Tuples in rows of memory; whoever uses them says which count.

    A walk shows all that rests from ``first`` to before ``end``, row by row, beside the tuple that was there when it
    began. It takes a cycle for each row, if ``go`` is up, and one more until the next may begin. What rests in a place
    is not to be overwritten before the walk has passed it, so whoever stores waits for the walk to end. A fetch shows
    one tuple, whenever one likes; it takes a cycle away from the walk.

    Parameters
    ----------
    shape
        What a tuple looks like.
    ring
        The rows.

    Members
    -------
    tuple
        The one that is stored, or that a walk begins for.
    store, free
        Store it, which needs ``ready``; where it goes.
    begin, first, end
        Begin a walk.
    walking, go
        A row is to be shown; it may be.
    hold
        The tuple of the last walk is still needed as ``probe``, in cycles without ``go``.
    ready
        It is not, and no walk goes on: another one may begin, or a tuple be stored.
    fetch, wanted
        Show the tuple at this place, too.
    probe, resting, mask
        The tuple of a walk, one that rests for each lane, and which of them count: ``LATENCY`` cycles after the walk
        went there.
    fetched, picked
        ``LATENCY`` + 1 cycles after a fetch, its tuple.
    busy
        Something is on its way to being shown.
    """

    #: From the cycle in which a walk comes to a row to the one in which it is shown.
    LATENCY = 3

    def __init__(self, shape, ring: LappedRing):
        self._shape = shape
        self._ring = ring
        super().__init__(
            {
                **store_ports(shape, ring),
                "fetch": In(1),
                "wanted": In(ring.place),
                "fetched": Out(1),
                "picked": Out(shape),
            }
        )

    def elaborate(self, platform):
        m = Module()
        ring = self._ring
        with m.If(self.store):
            m.d.sync += self.free.eq(ring.after(self.free))
        fetching = Signal()
        probe = Signal(self._shape, reset_less=True)
        at = Signal(len(ring.line(self.first)), reset_less=True)
        counts = self._walk(m, at, probe, ~fetching)

        fetch_address = Signal(range(ring.rows), reset_less=True)
        picks = Signal.like(self.wanted.lane, reset_less=True)
        m.d.sync += [
            fetching.eq(self.fetch),
            fetch_address.eq(self.wanted.row),
            picks.eq(self.wanted.lane),
        ]
        self._lanes(m, Mux(fetching, fetch_address, at[:-1]), probe)

        masks = self._shown_later(m, "mask", counts, reset_less=False)
        fetched = self._shown_later(m, "fetched", fetching, reset_less=False)
        m.d.comb += [
            self.probe.eq(self._shown_later(m, "probe", probe)[-1]),
            self.mask.eq(masks[-1]),
            self.fetched.eq(fetched[-1]),
            self.picked.eq(Array(self.resting)[self._shown_later(m, "picked", picks)[-1]]),
            self.busy.eq(self.walking | fetching | Cat(*masks, *fetched).any()),
        ]
        return m

    def _walk(self, m, at, probe, may):
        """Go from line to line, in cycles in which it ``may``; returns the lanes that count in the line ``at``."""
        ring, lanes = self._ring, self._ring.lanes
        # The last line, and the lanes that count in the first and in the last.
        to = Signal(len(at), reset_less=True)
        from_lane, to_lane = (Signal(lanes, name=name, reset_less=True) for name in ("from_lane", "to_lane"))
        all_lanes = Const(-1, lanes)
        step, last = Signal(), Signal()
        m.d.comb += [
            last.eq(at == to),
            step.eq(self.walking & self.go & may),
            # That a walk ends is known late, so the next one does not follow at once: scans take turns anyway.
            self.ready.eq(~self.hold & ~self.walking),
        ]
        # Whether a walk begins is known late: what it needs is taken up whenever one might.
        with m.If(self.ready):
            m.d.sync += [
                self.walking.eq(self.begin & (self.first.as_value() != self.end.as_value())),
                probe.eq(self.tuple),
                at.eq(ring.line(self.first)),
                to.eq(ring.line_before(self.end)),
                from_lane.eq(all_lanes << self.first.lane),
                to_lane.eq(Mux(self.end.lane == 0, all_lanes, ~(all_lanes << self.end.lane))),
            ]
        with m.If(step):
            m.d.sync += [self.walking.eq(~last), at.eq(ring.line_after(at)), from_lane.eq(~0)]
        return Mux(step, from_lane & (to_lane | (~last).replicate(lanes)), 0)

    def _lanes(self, m, read_address, probe):
        """The memory of each lane."""
        lanes = self._ring.lanes
        # A tuple is written a cycle later, when it is the probe: a walk that begins by then comes to its row after
        # that.
        storing = Signal(lanes)
        write_address = Signal(range(self._ring.rows), reset_less=True)
        m.d.sync += [storing.eq(Mux(self.store, 1 << self.free.lane, 0)), write_address.eq(self.free.row)]
        for lane in range(lanes):
            m.submodules[f"lane{lane}"] = rows = memory.Memory(
                shape=self._shape, depth=self._ring.rows, init=[], attrs=NEVER_COLLIDES
            )
            write, read = rows.write_port(), rows.read_port()
            m.d.comb += [
                write.addr.eq(write_address),
                write.data.eq(probe),
                write.en.eq(storing[lane]),
                read.addr.eq(read_address),
            ]
            # What comes out of a memory comes late: it goes straight into a register.
            out, shown = (Signal(self._shape, name=f"{name}{lane}", reset_less=True) for name in ("out", "shown"))
            m.d.sync += [out.eq(read.data), shown.eq(out)]
            m.d.comb += self.resting[lane].eq(shown)

    def _shown_later(self, m, name, value, *, reset_less=True):
        """What goes along with a row until it is shown: a register for each cycle."""
        value = Value.cast(value)
        stages = [Signal(len(value), name=f"{name}{n}", reset_less=reset_less) for n in range(self.LATENCY)]
        m.d.sync += [later.eq(now) for later, now in zip(stages, [value, *stages], strict=False)]
        return stages
