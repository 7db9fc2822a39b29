"""The window of S1 or S2 in the first stage of a stashed join."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.multiway.emitter import PartStore
from streamjoin.hdl.multiway.lane_bank import LaneBank, row_layout
from streamjoin.hdl.multiway.order_control import WindowView
from streamjoin.hdl.multiway.window_places import WindowPlaces
from streamjoin.hdl.stashed.stash_shape import StashShape


class PairWindow(Part):
    """Tuples of one stream, what is compared of them and what else pairs need, and their positions in the stream.

    Parameters
    ----------
    shape
        Layouts.
    places
        Those of this window.

    Members
    -------
    store, message
        The arrival's tuple enters the window.
    view, empty
        The window before that.
    first, next
        Positions of the first tuple in the window, and of the next one to come.
    show, row, resting, counts
        Rows of tuples, as in :class:`streamjoin.hdl.multiway.lane_bank.LaneBank`.
    wanted, fetched
        What is kept of a tuple, as in :class:`streamjoin.hdl.multiway.emitter.PartStore`.
    """

    def __init__(self, shape: StashShape, places: WindowPlaces):
        self._shape = shape
        self._places = places
        compared = shape.combination.layout.compared
        super().__init__(
            {
                "store": In(1),
                "message": In(shape.combination.message(1)),
                "view": Out(places.view),
                "empty": Out(1),
                "first": Out(shape.position),
                "next": Out(shape.position),
                "show": In(1),
                "row": In(row_layout(places)),
                "resting": Out(compared).array(places.lanes),
                "counts": Out(places.lanes),
                "wanted": In(places.place),
                "fetched": Out(shape.stored),
            }
        )

    def elaborate(self, platform):
        m = Module()
        shape, message = self._shape, self.message
        m.submodules.window = window = WindowView(self._places)
        m.submodules.bank = bank = LaneBank(shape.combination.layout.compared, self._places)
        m.submodules.parts = parts = PartStore(shape.stored, self._places)
        m.d.comb += [
            window.store.eq(self.store),
            self.view.eq(window.view),
            self.empty.eq(window.empty),
            bank.item.eq(Cat(shape.keys_of(message), shape.time_of(message))),
            bank.show.eq(self.show),
            bank.row.eq(self.row),
            *(mine.eq(its) for mine, its in zip(self.resting, bank.resting, strict=True)),
            self.counts.eq(bank.counts),
            parts.item.eq(Cat(message.parts[0], self.next, shape.time_of(message))),
            parts.wanted.eq(self.wanted),
            self.fetched.eq(parts.fetched),
        ]
        for store in (bank, parts):
            m.d.comb += [store.store.eq(self.store), store.place.eq(window.free)]
        with m.If(self.store):
            m.d.sync += self.next.eq(self.next + 1)
            with m.If(window.full):
                m.d.sync += self.first.eq(self.first + 1)
        return m


def ends_quarter_turn(window: PairWindow, shape: StashShape) -> Signal:
    """One bit: a tuple enters that ends a quarter turn of positions."""
    return window.store & window.next[: shape.position - 2].all()
