"""Order control: which tuples of a stage's window an arrival sees, whenever it comes to be compared with them."""

from amaranth.hdl import Module, Mux
from amaranth.lib import data, memory
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.ram import NEVER_COLLIDES
from streamjoin.hdl.multiway.window_places import WindowPlaces


class WindowView(Part):
    """The places of a window that tuples enter one by one, each pushing out the oldest when it is full.

    Members
    -------
    store, free
        A tuple enters; its place.
    view, full, empty
        The window before that; it has as many tuples as it can hold; it has none.
    """

    def __init__(self, places: WindowPlaces):
        self._places = places
        super().__init__(
            {
                "store": In(1),
                "free": Out(places.place),
                "view": Out(places.view),
                "full": Out(1),
                "empty": Out(1, init=1),  # pyright: ignore[reportCallIssue] (the stubs know it as reset)
            }
        )

    def elaborate(self, platform):
        m = Module()
        places, view = self._places, self.view
        row_is_whole = view.rest == places.lanes - 1
        whole, rest = divmod(places.window - 1, places.lanes)
        with m.If(self.store):
            m.d.sync += [self.free.eq(places.after(self.free)), self.empty.eq(0)]
            with m.If(self.full):
                m.d.sync += view.first.eq(places.after(view.first))
            with m.Else():
                m.d.sync += [
                    view.rest.eq(Mux(row_is_whole, 0, view.rest + 1)),
                    view.whole.eq(view.whole + row_is_whole),
                    self.full.eq((view.whole == whole) & (view.rest == rest)),
                ]
        return m


class OrderControl(Part):
    """Keeps the places of a window, and for each arrival under way what the window was when it passed.

    Circular-MJ's order control unit counts, for each comparison, how many tuples were stored too early, passes them by,
    and compares with as many that had expired too early instead. Here all arrivals pass all stages in their order, so a
    stage can note for each the first place of its window and how many it holds: its *view*. What is stored later lies
    beyond the view. What expires later is still in its place, for there are ``slack`` places more than the window has,
    and an arrival sees less than that many others come before it is complete. So the slack is both of the paper's
    buffers: OBuf, as long as its tuples are beyond a view, and EBuf, as long as they are behind the window.

    Parameters
    ----------
    places
        Those of the window; their slack is how many arrivals may be under way.
    number
        Bits of an arrival's number.

    Members
    -------
    passes, own, number, free
        An arrival passes; it is of this stage's stream, and takes the place ``free``.
    asked, view, empty
        The number of an arrival that has passed before this cycle; its view, and whether it is empty, in the next one.
    """

    def __init__(self, places: WindowPlaces, number: int):
        self._places = places
        self._number = number
        super().__init__(
            {
                "passes": In(1),
                "own": In(1),
                "number": In(number),
                "free": Out(places.place),
                "asked": In(number),
                "view": Out(places.view),
                "empty": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        places = self._places
        noted = data.StructLayout({"view": places.view, "empty": 1})
        m.submodules.views = views = memory.Memory(shape=noted, depth=1 << self._number, init=[], attrs=NEVER_COLLIDES)
        m.submodules.window = window = WindowView(places)
        write, read = views.write_port(), views.read_port()
        m.d.comb += [
            window.store.eq(self.passes & self.own),
            self.free.eq(window.free),
            write.addr.eq(self.number),
            write.data.view.eq(window.view),
            write.data.empty.eq(window.empty),
            write.en.eq(self.passes),
            read.addr.eq(self.asked),
            self.view.eq(read.data.view),
            self.empty.eq(read.data.empty),
        ]
        return m
