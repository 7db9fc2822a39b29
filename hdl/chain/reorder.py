"""The reorder buffer: results in the order of their later tuple, by the punctuations between them."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, memory
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import ORDER_WIDTH, TupleLayout
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.ram import NEVER_COLLIDES


class Reorder(Part):
    """Keeps results until a punctuation covers them, and gives them arrival after arrival.

    Each arrival that is not yet punctuated has places for all results that it can have as the later tuple: as many as
    the other window has tuples. So results need no sorting: each one goes to the next free place of its arrival, and a
    punctuation lets arrival after arrival go, and follows them. Results of later arrivals come in meanwhile.

    Why there is always a place. Whoever lets tuples in sees to it that no more than ``arrivals`` of them are without a
    punctuation that has left. Results are never held back for want of room, so the punctuations behind them come.

    Cost. One cycle a result, in and out; one cycle more for each arrival, in which no result comes in.

    Parameters
    ----------
    layout
        Of numbered tuples.
    arrivals
        How many may be without punctuation, a power of two from 2 up.
    most
        Results of one arrival.

    Members
    -------
    i, o
        Results and punctuations.
    busy
        A punctuation is inside, and what it covers. Results that none has covered yet do not count.
    """

    def __init__(self, layout: TupleLayout, *, arrivals: int, most: int):
        self._layout = layout.result
        self._kept = layout.pair
        self._arrivals = arrivals
        self._most = most
        super().__init__({"i": In(layout.results), "o": Out(layout.results), "busy": Out(1)})

    def elaborate(self, platform):
        m = Module()
        width = ceil_log2(self._arrivals)
        # As plain bits: to Amaranth a memory is as many numbers as it has words, one of structures twice as many.
        m.submodules.places = places = memory.Memory(
            shape=self._kept.size, depth=self._arrivals * self._most, init=[], attrs=NEVER_COLLIDES
        )
        m.submodules.counts = counts = memory.Memory(shape=range(self._most + 1), depth=self._arrivals, init=[])
        write, read = places.write_port(), places.read_port()
        count, so_far = counts.write_port(), counts.read_port(domain="comb")
        due = counts.read_port(domain="comb")
        m.submodules.out = out = FIFO(self._layout, 4, margin=2)
        connect(m, out.o, flipped(self.o))

        # Nothing is known of the counts until all of them have been cleared.
        clearing = Signal(init=1)
        to_clear = Signal(width)
        releasing = Signal()
        target, at = Signal(ORDER_WIDTH), Signal(ORDER_WIDTH)
        index = Signal(range(self._most + 1))
        passes_on, finishes, gives = Signal(), Signal(), Signal()
        m.d.comb += [
            due.addr.eq(at[:width]),
            finishes.eq(releasing & (at == target) & ~out.almost_full),
            passes_on.eq(releasing & (at != target) & (index == due.data)),
            gives.eq(releasing & (at != target) & (index != due.data) & ~out.almost_full),
        ]

        comes = Signal()
        m.d.comb += [
            self.i.ready.eq(~clearing & ~passes_on & ~(self.i.p.mark & releasing)),
            comes.eq(self.i.valid & self.i.ready),
            so_far.addr.eq(self.i.p.order[:width]),
            write.addr.eq(Cat(self.i.p.order[:width], so_far.data)),
            write.data.eq(Cat(self.i.p[field] for field in self._kept.members)),
            write.en.eq(comes & ~self.i.p.mark),
            count.addr.eq(Mux(clearing, to_clear, Mux(passes_on, at[:width], self.i.p.order[:width]))),
            count.data.eq(Mux(clearing | passes_on, 0, so_far.data + 1)),
            count.en.eq(clearing | passes_on | write.en),
        ]
        with m.If(clearing):
            m.d.sync += [to_clear.eq(to_clear + 1), clearing.eq(to_clear != self._arrivals - 1)]
        with m.If(comes & self.i.p.mark):
            m.d.sync += [releasing.eq(1), target.eq(self.i.p.order)]
        with m.Elif(finishes):
            m.d.sync += releasing.eq(0)
        with m.If(passes_on):
            m.d.sync += [at.eq(at + 1), index.eq(0)]
        with m.Elif(gives):
            m.d.sync += index.eq(index + 1)

        stored = data.View(self._kept, read.data)
        given = Signal()
        given_order = Signal(ORDER_WIDTH, reset_less=True)
        m.d.sync += [given.eq(gives), given_order.eq(at)]
        m.d.comb += [
            read.addr.eq(Cat(at[:width], index)),
            # Behind the last result of an arrival there may be no place.
            read.en.eq(~passes_on),
            *(out.i.p[field].eq(Mux(given, stored[field], 0)) for field in self._kept.members),
            out.i.p.order.eq(Mux(given, given_order, target)),
            out.i.p.mark.eq(~given),
            out.i.valid.eq(given | finishes),
            self.busy.eq(releasing | given | out.busy),
        ]
        return m
