"""A join in one core whose windows are shift registers with a comparator at every place."""

from itertools import pairwise

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import join_ports
from streamjoin.hdl.lib.fifo import FIFO
from tiny_join.parameters import TinyParameters


class TinyJoin(Part):
    """Takes one tuple a cycle and compares it with the whole window of the other stream in that cycle.

    A tuple that is taken shifts its own window by one place. Which places of the other window it matches is kept in a
    register, ``due``, one bit a place; from then on one of these results goes into the output queue in each cycle in
    which there is room, the youngest partner first. The next tuple is taken when none is left.

    Why each pair meets exactly once. Arrival order is the order in which tuples are taken: one a cycle, and R where
    both wait. A tuple is compared in one cycle only, that in which it is taken, and only with what is in the other
    window then: so a pair meets when its later tuple is taken, if the earlier one is among the last W of its stream,
    and never again. Both windows stand still until every result of that cycle is in the queue; so the later tuple is
    the first of its own window, its partner is where it was, and neither has to be copied.

    Why it cannot deadlock. Tuples wait for ``due`` to become empty, which waits for room in the queue, which waits for
    the output alone.

    What a tuple costs. One cycle, and one more for each result; a result can leave in the third cycle after its later
    tuple was taken.

    Where windows are time-based the predicate knows it (see :class:`~streamjoin.hdl.base.tuple_layout.TupleLayout`);
    here only the tuples are counted that are pushed out before their time is up.

    Parameters
    ----------
    parameters
        Windows, predicate, queue.

    Members
    -------
    i_r, i_s
        Tuples in; never both in the same cycle, unless they are thrown away.
    o_result
        Results, by the order of their later tuples.
    drain, drained
        Take no more tuples; all results have left.
    halted, discarding, dropped
        Results wait for room in the queue; transfers of this cycle are thrown away; how many have been.
    overflows
        Tuples pushed out of a time-based window before their time was up.
    """

    def __init__(self, parameters: TinyParameters):
        self._parameters = parameters
        super().__init__(join_ports(parameters.layout))

    def elaborate(self, platform):
        m = Module()
        p, layout = self._parameters, self._parameters.layout
        m.submodules.results = results = FIFO(layout.result, p.queue)
        connect(m, results.o, flipped(self.o_result))

        # The youngest tuple is at place 0. What a place holds counts once it has been filled.
        windows = [
            [Signal(layout.tuple, name=f"window_{side}_{place}", reset_less=True) for place in range(length)]
            for side, length in zip("rs", p.windows, strict=True)
        ]
        filled = [Signal(length, name=f"filled_{side}") for side, length in zip("rs", p.windows, strict=True)]
        due = Signal(max(p.windows))  # places of the other window that match the latest tuple
        latest_is_s = Signal()

        # From the cycle after a reset until a drain.
        taking = Signal()
        draining = Signal()
        idle = Signal()
        m.d.sync += [draining.eq(draining | self.drain), taking.eq(~draining & ~self.drain)]
        m.d.comb += [
            idle.eq(due == 0),
            self.halted.eq(taking & ~idle & ~results.i.ready),
            self.drained.eq(draining & idle & ~results.busy),
        ]

        # One result a cycle: the latest tuple, which is the first of its window, and the first partner that is due.
        m.d.comb += results.i.valid.eq(~idle)
        with m.If(results.i.ready):
            m.d.sync += due.eq(due & (due - 1))
        pair = [Signal(layout.tuple, name=f"pair_{side}") for side in "rs"]
        for window, one, is_partner in zip(windows, pair, (latest_is_s, ~latest_is_s), strict=True):
            m.d.comb += one.eq(window[0])
            for place in reversed(range(len(window))):  # of several that hold the last one counts
                with m.If(is_partner & due[place]):
                    m.d.comb += one.eq(window[place])
        m.d.comb += layout.join(results.i.p, *pair)

        # One tuple a cycle, R first.
        ports = (self.i_r, self.i_s)
        free = (taking & idle, taking & idle & ~self.i_r.valid)
        for side, (port, may_enter) in enumerate(zip(ports, free, strict=True)):
            own, other = windows[side], windows[1 - side]
            enters = Signal(name=f"enters_{'rs'[side]}")
            m.d.comb += [enters.eq(may_enter & port.valid), port.ready.eq(may_enter | self.discarding)]
            with m.If(enters):
                matches = (layout.matches(*((port.p, one) if side == 0 else (one, port.p))) for one in other)
                m.d.sync += [
                    due.eq(Cat(matches) & filled[1 - side]),
                    latest_is_s.eq(side),
                    own[0].eq(port.p),
                    *(older.eq(younger) for younger, older in pairwise(own)),
                    filled[side].eq(Cat(Const(1, 1), filled[side])),
                ]
            if p.spans is not None:
                with m.If(enters & filled[side][-1] & (port.p.time - own[-1].time < p.spans[side])):
                    m.d.sync += self.overflows.eq(self.overflows + 1)

        if p.on_full == "drop":
            m.d.comb += self.discarding.eq(self.halted)
            with m.If(self.discarding):
                m.d.sync += self.dropped.eq(self.dropped + self.i_r.valid + self.i_s.valid)
        return m
