"""The stash of a multi-way join: pairs that were found, kept until they are no longer live."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, memory, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.ram import NEVER_COLLIDES
from streamjoin.hdl.multiway.emitter import PartStore
from streamjoin.hdl.multiway.lane_bank import LaneBank, row_layout
from streamjoin.hdl.multiway.window_places import WindowPlaces


class Stash(Part):
    """A ring of pairs in the order in which they came, and whether one that is live has been overwritten.

    See :mod:`streamjoin.reference.models.stashed` for what is live, what is lost, and why this is exact. A pair is live
    if the positions of both its tuples have not been left behind by ``first``: positions wrap, and the difference has
    no sign bit. The oldest pair is known one cycle after it became the oldest; if it is not live, it is given up. So a
    full stash takes a pair in every second cycle, any other in every one.

    Parameters
    ----------
    compared
        What an arrival is compared with; it has the positions ``one`` and ``two`` of both tuples.
    parts
        What else results need.
    places
        Of the pairs, without slack.

    Members
    -------
    i
        Pairs: ``compared`` and ``parts``.
    first, newest
        For both streams, the position of the first tuple in the window, and of the latest.
    epoch
        Give up all pairs; live ones are lost.
    complete
        No pair that is live has been lost.
    view, show, row, resting, counts
        Where the pairs are; rows of them, as in :class:`streamjoin.hdl.multiway.lane_bank.LaneBank`.
    wanted, fetched
        The parts of a pair, as in :class:`streamjoin.hdl.multiway.emitter.PartStore`.
    """

    def __init__(self, compared: data.StructLayout, parts: data.StructLayout, places: WindowPlaces):
        self._compared = compared
        self._parts = parts
        self._places = places
        self._ages = data.StructLayout({"one": compared["one"].shape, "two": compared["two"].shape})
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout({"compared": compared, "parts": parts}))),
                "first": In(self._ages),
                "newest": In(self._ages),
                "epoch": In(1),
                "complete": Out(1),
                "view": Out(places.view),
                "show": In(1),
                "row": In(row_layout(places)),
                "resting": Out(compared).array(places.lanes),
                "counts": Out(places.lanes),
                "wanted": In(places.place),
                "fetched": Out(parts),
            }
        )

    def elaborate(self, platform):
        m = Module()
        places, view = self._places, self.view
        free = Signal(places.place)
        whole, rest = divmod(places.window, places.lanes)
        empty = (view.whole == 0) & (view.rest == 0)
        full = (view.whole == whole) & (view.rest == rest)
        insert, leaves, known = Signal(), Signal(), Signal()
        oldest = self._oldest(m, insert, free)
        dead = self._is_over(oldest)
        m.d.comb += [
            insert.eq(self.i.valid & ~self.epoch & (~full | known)),
            self.i.ready.eq(~self.epoch & (~full | known)),
            leaves.eq((insert & full) | (~insert & known & ~empty & dead)),
        ]
        m.d.sync += known.eq(~insert & ~leaves & ~self.epoch)
        with m.If(insert):
            m.d.sync += free.eq(places.after(free))
        with m.If(self.epoch):
            m.d.sync += [view.first.eq(free), view.whole.eq(0), view.rest.eq(0)]
        with m.Else():
            with m.If(leaves):
                m.d.sync += view.first.eq(places.after(view.first))
            with m.If(insert & ~leaves):
                row_is_whole = view.rest == places.lanes - 1
                m.d.sync += [
                    view.rest.eq(Mux(row_is_whole, 0, view.rest + 1)),
                    view.whole.eq(view.whole + row_is_whole),
                ]
            with m.Elif(leaves & ~insert):
                m.d.sync += [
                    view.rest.eq(Mux(view.rest == 0, places.lanes - 1, view.rest - 1)),
                    view.whole.eq(view.whole - (view.rest == 0)),
                ]
        self._keep_account(m, oldest, insert & full & ~dead, self.epoch & ~empty)

        m.submodules.bank = bank = LaneBank(self._compared, places)
        m.submodules.parts = parts = PartStore(self._parts, places)
        m.d.comb += [
            bank.store.eq(insert),
            bank.place.eq(free),
            bank.item.eq(self.i.p.compared),
            bank.show.eq(self.show),
            bank.row.eq(self.row),
            *(mine.eq(its) for mine, its in zip(self.resting, bank.resting, strict=True)),
            self.counts.eq(bank.counts),
            parts.store.eq(insert),
            parts.place.eq(free),
            parts.item.eq(self.i.p.parts),
            parts.wanted.eq(self.wanted),
            self.fetched.eq(parts.fetched),
        ]
        return m

    def _oldest(self, m, insert, free):
        """The positions of the oldest pair, in a cycle after one in which nothing changed."""
        depth = self._places.rows << self._places.place["lane"].width
        m.submodules.ages = ages = memory.Memory(shape=self._ages, depth=depth, init=[], attrs=NEVER_COLLIDES)
        write, read = ages.write_port(), ages.read_port()
        m.d.comb += [
            write.addr.eq(Cat(free.lane, free.row)),
            write.data.one.eq(self.i.p.compared.one),
            write.data.two.eq(self.i.p.compared.two),
            write.en.eq(insert),
            read.addr.eq(Cat(self.view.first.lane, self.view.first.row)),
        ]
        return read.data

    def _is_over(self, ages):
        """Whether a tuple at either position has left its window."""
        return is_behind(ages.one, self.first.one) | is_behind(ages.two, self.first.two)

    def _keep_account(self, m, oldest, lose, lose_all):
        """Of the latest positions among lost pairs, while any of these may be live."""
        lost = Signal(self._ages, reset_less=True)
        some = Signal()
        over = self._is_over(lost)
        m.d.comb += self.complete.eq(~some | over)
        with m.If(lose_all):
            m.d.sync += [some.eq(1), lost.eq(self.newest)]
        with m.Elif(lose):
            m.d.sync += some.eq(1)
            for name in self._ages.members:
                with m.If(self.complete | is_behind(lost[name], oldest[name])):
                    m.d.sync += lost[name].eq(oldest[name])
        with m.Elif(over):
            m.d.sync += some.eq(0)


def is_behind(position, other):
    """Whether a position comes before another, if they are less than half a turn apart."""
    width = len(position)
    return (position - other)[width - 1]
