"""Which tuples of a stage's window an arrival sees, whenever it comes to be compared with them."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import memory
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.part import Part
from streamjoin.hdl.places import Places
from streamjoin.hdl.ram import NEVER_COLLIDES


class OrderControl(Part):
    """Keeps the places of a window, and for each arrival under way what the window was when it passed.

    Paper 004's order control unit counts, for each comparison, how many tuples were stored too early, passes over them,
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
    passes, own, number
        An arrival passes; it is of this stage's stream, and takes the place ``free``.
    asked, view
        The number of an arrival that has passed before this cycle; its view, in the next one.
    """

    def __init__(self, places: Places, number: int):
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
            }
        )

    def elaborate(self, platform):
        m = Module()
        places = self._places
        m.submodules.views = views = memory.Memory(
            shape=places.view, depth=1 << self._number, init=[], attrs=NEVER_COLLIDES
        )
        write, read = views.write_port(), views.read_port()
        now = Signal(places.view)
        m.d.comb += [
            write.addr.eq(self.number),
            write.data.eq(now),
            write.en.eq(self.passes),
            read.addr.eq(self.asked),
            self.view.eq(read.data),
        ]
        full = Signal()
        with m.If(self.passes & self.own):
            m.d.sync += self.free.eq(places.after(self.free))
            with m.If(full):
                m.d.sync += now.first.eq(places.after(now.first))
            with m.Else():
                row_is_whole = now.rest == places.lanes - 1
                m.d.sync += [
                    now.rest.eq(Mux(row_is_whole, 0, now.rest + 1)),
                    now.whole.eq(now.whole + row_is_whole),
                    full.eq(
                        (now.whole == (places.window - 1) // places.lanes)
                        & (now.rest == (places.window - 1) % places.lanes)
                    ),
                ]
        return m
