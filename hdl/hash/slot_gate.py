"""The slot gate: lets transfers of several tuples in while there is room, and runs from reset to drain."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import CONTROL, input_ports
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.run_lifecycle import RunLifecycle


class SlotGate(Part):
    """As :class:`streamjoin.hdl.lib.input_gate.InputGate`, for ports with slots, both of which transfer together.

    Parameters
    ----------
    layout
        Layouts, with a ``width`` of several tuples.
    on_full
        ``"stall"`` or ``"drop"``: what to do with tuples that find no room.
    start, settle
        Cycles from a reset to the first tuple, and after which whatever moves shows.

    Members
    -------
    i_r, i_s
        Tuples in.
    room
        There is room behind the gate.
    enters
        A transfer enters in this cycle.
    moving
        Something is still under way.
    early
        So many tuples have been found in the last cycle that left their window too soon.
    drain, drained, halted, discarding, dropped, overflows
        As in :class:`streamjoin.hdl.lockstep.join.LockStepJoin`.
    """

    def __init__(self, layout: TupleLayout, *, on_full: str, start: int, settle: int):
        self._drop = on_full == "drop"
        self._start, self._settle = start, settle
        early = {"early": In(range(2 * layout.width + 1))}
        super().__init__({**input_ports(layout), "room": In(1), "enters": Out(1), "moving": In(1), **early, **CONTROL})

    def elaborate(self, platform):
        m = Module()
        m.submodules.run = run = RunLifecycle(start=self._start, settle=self._settle)
        admit = Signal()
        m.d.comb += [
            run.drain.eq(self.drain),
            run.moving.eq(self.moving),
            self.drained.eq(run.drained),
            self.halted.eq(run.taking & ~self.room),
            admit.eq(run.taking & self.room),
            self.enters.eq(admit & self.i_r.valid & self.i_s.valid),
            self.i_r.ready.eq(admit | self.discarding),
            self.i_s.ready.eq(admit | self.discarding),
        ]
        m.d.sync += self.overflows.eq(self.overflows + self.early)
        if self._drop:
            lost = Signal(range(2 * len(self.i_r.p.slots) + 1))
            offered = self.i_r.valid & self.i_s.valid
            m.d.comb += self.discarding.eq(self.halted)
            m.d.sync += [
                lost.eq(Mux(self.discarding & offered, self.i_r.p.count + self.i_s.p.count, 0)),
                self.dropped.eq(self.dropped + lost),
            ]
        return m
