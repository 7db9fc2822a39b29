"""The expiry queue: the numbers of stored tuples, which leave once nobody can look for them any more."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.fifo import FIFO


class ExpiryQueue(Part):
    """A number leaves when all before it have left and it is below the horizon, in every cycle one.

    What is compared is the number in front and the one behind it, each in the cycle before it may leave; so no
    comparison stands between the front and the queue.

    Parameters
    ----------
    bits
        Of a number: they wrap round.
    depth
        Numbers that may be inside.

    Members
    -------
    enters, number
        A tuple is stored.
    full
        No room for another one.
    horizon
        What is below that is dead; it never decreases.
    leaves
        The oldest tuple leaves.
    """

    #: Numbers that may enter while the queue warns, and those that are in front of it.
    _RESERVE, _FRONT = 2, 3

    def __init__(self, bits: int, depth: int):
        if depth <= self._RESERVE + self._FRONT:
            raise ValueError(f"an expiry queue holds more than {self._RESERVE + self._FRONT} numbers, not {depth}")
        self._bits = bits
        self._depth = depth
        super().__init__({"enters": In(1), "number": In(bits), "full": Out(1), "horizon": In(bits), "leaves": Out(1)})

    def elaborate(self, platform):
        m = Module()
        depth = self._depth - self._RESERVE - self._FRONT
        m.submodules.queue = queue = FIFO.with_reserve(self._bits, depth, self._RESERVE)
        m.d.comb += [
            queue.i.valid.eq(self.enters),
            queue.i.p.eq(self.number),
            self.full.eq(queue.almost_full),
        ]
        front, behind = (Signal(self._bits, name=name, reset_less=True) for name in ("front", "behind"))
        some, more, is_dead = Signal(), Signal(), Signal()
        moves = is_dead | ~some
        takes = moves | ~more
        m.d.comb += [queue.o.ready.eq(takes), self.leaves.eq(is_dead)]
        dead = [(number - self.horizon)[self._bits - 1] for number in (front, behind)]
        m.d.sync += is_dead.eq(Mux(moves, more & dead[1], dead[0]))
        with m.If(moves):
            m.d.sync += [front.eq(behind), some.eq(more)]
        with m.If(takes):
            m.d.sync += [behind.eq(queue.o.p), more.eq(queue.o.valid)]
        return m
