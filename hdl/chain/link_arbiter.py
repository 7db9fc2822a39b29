"""Which of two queues of messages a core takes the next one from."""

from amaranth.hdl import Module, Mux, Signal, ValueLike

from streamjoin.hdl.lib.fifo import FIFO


def take_turns(m: Module, left: FIFO, right: FIFO, *, may_left: ValueLike, may_right: ValueLike):
    """Take from both queues in turns, or from the one that has something; as hardware, a few bits in the module ``m``.

    A message is taken in the cycle after the one in which it was found at the exit, allowed (``may_left``,
    ``may_right``), and to have its turn. So whatever follows from taking it begins at a register. The price: one queue
    alone gives a message in every other cycle, both together one in each. And what allows it may have changed by one
    message from the other queue: whoever promises room, promises it for one more.

    Returns
    -------
    will_left, will_right
        The message at the exit will be taken in the next cycle.
    take_left, take_right
        It is taken in this cycle.
    from_the_left
        If one is, whether it is from the left: apart from the other bits, since it is far-flung, to select the data.
    """
    turn_right = Signal()
    from_the_left = Signal()
    will = {side: Signal(name=f"will_{side}") for side in ("left", "right")}
    take = {side: Signal(name=f"take_{side}") for side in ("left", "right")}
    m.d.sync += [
        turn_right.eq(Mux(turn_right, ~left.o.valid, right.o.valid)),
        from_the_left.eq(~turn_right),
    ]
    for side, queue, may, turn in (("left", left, may_left, ~turn_right), ("right", right, may_right, turn_right)):
        m.d.comb += [will[side].eq(turn & queue.o.valid & ~take[side] & may), queue.o.ready.eq(take[side])]
        m.d.sync += take[side].eq(will[side])
    return *will.values(), *take.values(), from_the_left
