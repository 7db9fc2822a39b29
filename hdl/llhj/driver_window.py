"""One stream as the driver of a low-latency handshake join knows it: what is under way, and what has expired."""

from amaranth.hdl import Module, Mux, Signal

from streamjoin.hdl.llhj.expedition import Expedition


class DriverWindow:
    """What the driver knows of one stream; as hardware, a few counters in the module ``m``.

    It is told when a tuple enters, when one has ended its expedition, and of how many all cores have come to know
    that they have expired.

    Attributes
    ----------
    hops
        How far the home of the next tuple is from where it enters.
    expired, pending, expired_next, pending_next
        How many have expired, as a mark for the other end, and how many of these it has not been told of; the same
        after the tuple that enters now.
    closed
        No tuple of this stream can enter now.
    hurry
        Word of what has expired must not wait any longer.
    tell
        It goes in this cycle.
    travelling
        Some are under way.
    """

    def __init__(self, m: Module, expedition: Expedition, side: str, *, enters, full, ended, known):
        window, slack, cores = expedition.window[side], expedition.slack[side], expedition.cores
        resting = Signal(range(window + 1), name=f"resting_{side}")
        on_the_way = Signal(range(expedition.room[side] + 1), name=f"on_the_way_{side}")
        used = Signal(range(expedition.room[side] + 1), name=f"used_{side}")
        expires = enters & full
        # The tuple that is pushed out must have ended its expedition, and there must be a row for the new one.
        # Known a cycle later, which is early enough: none enters in the two cycles after another.
        self.closed = Signal(name=f"closed_{side}")
        m.d.sync += self.closed.eq((full & (resting == 0)) | (used == expedition.room[side]))
        self.travelling = on_the_way != 0
        m.d.sync += [
            resting.eq(resting + ended - expires),
            on_the_way.eq(on_the_way + enters - ended),
            used.eq(used + enters - known),
        ]

        position = Signal(range(cores), name=f"position_{side}")
        with m.If(enters):
            m.d.sync += position.eq(Mux(position == cores - 1, 0, position + 1))
        self.hops = position if side == "r" else (cores - 1 - position)[: len(position)]

        # Word of R goes to the right end and travels to the left, word of S the other way.
        start = cores if side == "r" else 0
        self.expired = Signal(expedition.marks[side], name=f"expired_{side}", init={"hops": start})
        self.expired_next = Signal(expedition.marks[side], name=f"expired_{side}_next")
        wraps = self.expired.hops == (1 if side == "r" else cores - 1)
        hops = self.expired.hops - 1 if side == "r" else self.expired.hops + 1
        # The mark after this one, made ahead: it is not asked for in the cycle after one that expires.
        following = Signal(expedition.marks[side], name=f"expired_{side}_following")
        place = expedition.rings[side].after(self.expired.place)
        m.d.sync += [
            following.hops.eq(Mux(wraps, start, hops)),
            following.place.eq(Mux(wraps, place.as_value(), self.expired.place.as_value())),
            self.expired.eq(self.expired_next),
        ]
        m.d.comb += self.expired_next.eq(Mux(expires, following.as_value(), self.expired.as_value()))

        self.tell = Signal(name=f"tell_{side}")
        self.pending = Signal(range(slack + 1), name=f"pending_{side}")
        self.pending_next = Signal(range(slack + 1), name=f"pending_{side}_next")
        m.d.comb += self.pending_next.eq(self.pending + expires)
        self.hurry = self.pending >= max(1, slack // 2)
        # R hears of S as it was before S enters, S of R after R has entered.
        m.d.sync += self.pending.eq(Mux(self.tell, expires if side == "s" else 0, self.pending_next))
