"""The punctuation logic of a low-latency handshake join: when all results up to an arrival have been found."""

from amaranth.hdl import Mux, Signal

from streamjoin.hdl.base.tuple_layout import ORDER_WIDTH, is_before


class Punctuation:
    """What the driver knows of arrivals as such; as hardware, a few counters in the module ``m``.

    A punctuation is due when ``period`` arrivals have been handled since the last one; or any, if a drain has begun, if
    ``lull`` cycles have passed without an arrival, or if no more may arrive before one has left. It goes when ``free``
    is up, one at a time.

    Attributes
    ----------
    arrivals
        How many there have been.
    handled
        How many of them, from the first one on, all cores have handled.
    goes
        A punctuation of these goes in this cycle.
    unsaid
        Not all arrivals have been punctuated.
    closed
        No more may arrive before a punctuation has left.
    """

    def __init__(self, m, period, *, outstanding, lull, enters, windows, exits, free, draining, left):
        self.arrivals = Signal(ORDER_WIDTH, name="arrivals")
        self.handled = Signal(ORDER_WIDTH, name="handled")
        self.goes = Signal(name="punctuates")
        m.d.sync += self.arrivals.eq(self.arrivals + enters["r"] + enters["s"])
        ended = {}
        for side, (comes_out, message) in exits.items():
            # All of this stream that arrived before so many others have ended their expedition.
            ended[side] = Signal(ORDER_WIDTH, name=f"ended_{side}")
            with m.If(comes_out & message.valid):
                m.d.sync += ended[side].eq(message.tuple.order + 1)
            with m.Elif(~windows[side].travelling):
                m.d.sync += ended[side].eq(self.arrivals)
        m.d.sync += self.handled.eq(Mux(is_before(ended["r"], ended["s"]), ended["r"], ended["s"]))

        said = Signal(ORDER_WIDTH)
        under_way, due = Signal(name="punctuation_under_way"), Signal(name="punctuation_due")
        quiet = Signal(range(lull + 1))
        with m.If(enters["r"] | enters["s"]):
            m.d.sync += quiet.eq(0)
        with m.Elif(quiet != lull):
            m.d.sync += quiet.eq(quiet + 1)
        since = (self.handled - said)[:ORDER_WIDTH]
        self.closed = Signal(name="too_many_outstanding")
        over = draining | self.closed | (quiet == lull)
        m.d.sync += due.eq(~self.goes & ~under_way & ((since >= period) | (over & since.any())))
        m.d.comb += self.goes.eq(due & free)
        with m.If(self.goes):
            m.d.sync += [said.eq(self.handled), under_way.eq(1)]
        with m.Elif(left):
            m.d.sync += under_way.eq(0)
        if outstanding is not None:
            confirmed = Signal(ORDER_WIDTH)
            with m.If(left):
                m.d.sync += confirmed.eq(said)
            # Two may enter in a cycle, and in the next one, before this is known.
            m.d.sync += self.closed.eq((self.arrivals - confirmed)[:ORDER_WIDTH] > outstanding - 4)
        self.unsaid = under_way | (said != self.arrivals)
