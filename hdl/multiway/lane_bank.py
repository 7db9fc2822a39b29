"""The lane bank of a window: a memory for each lane, read side by side, and the walk along its rows."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, memory
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.ram import NEVER_COLLIDES
from streamjoin.hdl.multiway.window_places import WindowPlaces


def row_layout(places: WindowPlaces) -> data.StructLayout:
    """A row's worth of tuples: where it begins, the row in which it goes on, and the lanes ``further`` on, in that.

    Of the ``last`` row of a walk only the rest counts, if there is one.
    """
    where = places.place.members
    further = {"next_row": where["row"], "further": places.lanes}
    return data.StructLayout({**where, **further, "rest": range(places.lanes), "last": 1})


class LaneBank(Part):
    """A memory for each lane, with an address of its own: a row's worth may begin anywhere in a row.

    Parameters
    ----------
    shape
        What rests here.
    places
        Where.

    Members
    -------
    store, place, item
        An item is to rest at this place; it can be shown two cycles later.
    show, row
        This row's worth is to be shown.
    resting, counts
        ``LATENCY`` cycles later: the items, and which of them belong to the row's worth; none if nothing is shown.
    """

    LATENCY = 3

    def __init__(self, shape, places: WindowPlaces):
        self._shape = shape
        self._places = places
        super().__init__(
            {
                "store": In(1),
                "place": In(places.place),
                "item": In(shape),
                "show": In(1),
                "row": In(row_layout(places)),
                "resting": Out(shape).array(places.lanes),
                "counts": Out(places.lanes),
            }
        )

    def elaborate(self, platform):
        m = Module()
        places, lanes = self._places, self._places.lanes
        chosen, reading = Signal(), Signal()
        row, row_reading = (Signal(row_layout(places), name=name, reset_less=True) for name in ("row", "row_reading"))
        # What is stored, a cycle later: lanes are far apart.
        storing = Signal(lanes)
        write_row, item = Signal.like(self.place.row, reset_less=True), Signal(self._shape, reset_less=True)
        m.d.sync += [
            chosen.eq(self.show),
            row.eq(self.row),
            reading.eq(chosen),
            row_reading.eq(row),
            storing.eq(Mux(self.store, 1 << self.place.lane, 0)),
            write_row.eq(self.place.row),
            item.eq(self.item),
        ]
        for lane, resting in enumerate(self.resting):
            m.submodules[f"lane{lane}"] = items = memory.Memory(
                shape=self._shape, depth=places.rows, init=[], attrs=NEVER_COLLIDES
            )
            write, read = items.write_port(), items.read_port()
            m.d.comb += [
                write.addr.eq(write_row),
                write.data.eq(item),
                write.en.eq(storing[lane]),
                read.addr.eq(Mux(row.further[lane], row.next_row, row.row) if lane < lanes - 1 else row.row),
            ]
            m.d.sync += resting.eq(read.data)
        # As many ones as the rest has tuples, turned to where it begins.
        whole = ~(row_reading.last & (row_reading.rest != 0))
        turned = Signal(2 * lanes)
        m.d.comb += turned.eq(((Const(1, lanes) << row_reading.rest) - 1)[:lanes] << row_reading.lane)
        m.d.sync += self.counts.eq(Mux(reading, Mux(whole, Const(-1, lanes), turned[:lanes] | turned[lanes:]), 0))
        return m


class Walk(Part):
    """An address generator: goes along a view, row by row.

    Parameters
    ----------
    places
        Those that the view is of.

    Members
    -------
    begin, view
        Begin with this view, which is not empty; not before the last row has been shown or is in this cycle.
    walking, row, step
        There is a row to be shown; it is.
    """

    def __init__(self, places: WindowPlaces):
        self._places = places
        super().__init__(
            {
                "begin": In(1),
                "view": In(places.view),
                "walking": Out(1),
                "row": Out(row_layout(places)),
                "step": In(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        view, row, row_after = self.view, self.row, self._places.line_after
        left = Signal(range(self._places.window + 1), reset_less=True)
        further = view.whole - (view.rest == 0)
        with m.If(self.begin):
            m.d.sync += [
                self.walking.eq(1),
                row.row.eq(view.first.row),
                row.next_row.eq(row_after(view.first.row)),
                row.lane.eq(view.first.lane),
                row.further.eq(Cat(lane < view.first.lane for lane in range(self._places.lanes - 1))),
                row.rest.eq(view.rest),
                row.last.eq(further == 0),
                left.eq(further),
            ]
        with m.Elif(self.step):
            m.d.sync += [
                self.walking.eq(~row.last),
                row.row.eq(row.next_row),
                row.next_row.eq(row_after(row.next_row)),
                row.last.eq(left == 1),
                left.eq(left - 1),
            ]
        return m
