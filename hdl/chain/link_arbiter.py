"""The arbiter between the two queues of messages that a core has, one from each neighbour."""

from amaranth.hdl import Module, Mux, Signal, ValueLike

from streamjoin.hdl.lib.fifo import FIFO


class LinkArbiter:
    """Round-robin between both queues, or the one that has something; as hardware, a few bits in the module ``m``.

    A message is taken in the cycle after the one in which it was found at the exit, allowed (``may_left``,
    ``may_right``), and to have its turn. So whatever follows from taking it begins at a register. The price: one queue
    alone gives a message in every other cycle, both together one in each. And what allows it may have changed by one
    message from the other queue: whoever promises room, promises it for one more.

    Attributes
    ----------
    will_left, will_right
        The message at the exit will be taken in the next cycle.
    take_left, take_right
        It is taken in this cycle.
    from_left
        If one is, whether it is from the left: apart from the other bits, since it is far-flung, to select the data.
    """

    def __init__(self, m: Module, left: FIFO, right: FIFO, *, may_left: ValueLike, may_right: ValueLike):
        turn_of_right = Signal()
        self.from_left = Signal(name="from_left")
        m.d.sync += [
            turn_of_right.eq(Mux(turn_of_right, ~left.o.valid, right.o.valid)),
            self.from_left.eq(~turn_of_right),
        ]
        self.will_left, self.take_left = self._grant(m, "left", left, ~turn_of_right, may_left)
        self.will_right, self.take_right = self._grant(m, "right", right, turn_of_right, may_right)

    @staticmethod
    def _grant(m: Module, side: str, queue: FIFO, turn: ValueLike, may: ValueLike) -> tuple[Signal, Signal]:
        will, take = Signal(name=f"will_{side}"), Signal(name=f"take_{side}")
        m.d.comb += [will.eq(turn & queue.o.valid & ~take & may), queue.o.ready.eq(take)]
        m.d.sync += take.eq(will)
        return will, take
