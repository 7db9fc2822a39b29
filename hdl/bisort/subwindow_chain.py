"""The chain of subwindows of one stream: which region each lies in, and how many tuples it has."""

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays


class SubwindowChain(Part):
    """A ring of slots, a subwindow each. Tuples go into the newest; the oldest is forgotten as a whole.

    Parameters
    ----------
    arrays
        Layouts and sizes.
    stream
        0 for R, 1 for S.

    Members
    -------
    newest, full
        The newest subwindow; there is no room in it.
    advance
        Make the oldest subwindow the newest, and empty.
    commit, region, fresh
        What was merged replaces the newest: its region, and how many tuples more it has.
    slot, array
        Which subwindow is in a slot, in the next cycle.
    """

    def __init__(self, arrays: SortedArrays, stream: int):
        self._arrays, self._stream = arrays, stream
        super().__init__(
            {
                "newest": Out(arrays.array),
                "full": Out(1),
                "advance": In(1),
                "commit": In(1),
                "region": In(arrays.array["region"].shape),
                "fresh": In(arrays.array["count"].shape),
                "slot": In(range(max(arrays.chains))),
                "array": Out(arrays.array),
            }
        )

    def elaborate(self, platform):
        m = Module()
        arrays = self._arrays
        length = arrays.chains[self._stream]
        offset = self._stream * arrays.chains[0]
        shape = arrays.array["region"].shape
        regions = [Signal(shape, name=f"region{n}", init=offset + n) for n in range(length)]
        counts = [Signal(range(arrays.subwindow + 1), name=f"count{n}") for n in range(length)]
        newest = Signal(range(length))
        following = Signal.like(newest)
        m.d.comb += [
            following.eq(Mux(newest == length - 1, 0, newest + 1)),
            self.newest.region.eq(Array(regions)[newest]),
            self.newest.count.eq(Array(counts)[newest]),
            self.full.eq(self.newest.count == arrays.subwindow),
        ]
        with m.If(self.advance):
            m.d.sync += [newest.eq(following), Array(counts)[following].eq(0)]
        with m.If(self.commit):
            m.d.sync += [
                Array(regions)[newest].eq(self.region),
                Array(counts)[newest].eq(self.newest.count + self.fresh),
            ]
        m.d.sync += [self.array.region.eq(Array(regions)[self.slot]), self.array.count.eq(Array(counts)[self.slot])]
        return m
