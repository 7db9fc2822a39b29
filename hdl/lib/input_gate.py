"""The input gate: lets tuples of two streams in while there is room, counts windows, and runs from reset to drain."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import CONTROL, input_ports
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.dropping import drop_while
from streamjoin.hdl.lib.overflow import pushed_out_early
from streamjoin.hdl.lib.run_lifecycle import RunLifecycle


class InputGate(Part):
    """Admission of tuples to a join whose cores talk to their neighbours alone.

    Both inputs share one ``ready``, so whatever waits enters together, R before S. After a reset the gate stays shut
    for ``start`` cycles. ``drain`` shuts it for good: then whoever is behind it gets rid of what is due, until
    ``moving`` has been down for ``settle`` cycles (:class:`streamjoin.hdl.lib.run_lifecycle.RunLifecycle`).

    Parameters
    ----------
    layout
        Layouts.
    windows
        Tuples in the windows of R and S.
    on_full
        ``"stall"`` or ``"drop"``: what to do with tuples that find no room.
    start, settle
        Cycles from a reset to the first tuple, and after which whatever moves shows.
    longest_wait
        Cycles after which ``wait`` means that something is held up: then there is no room.

    Members
    -------
    i_r, i_s
        Tuples in.
    room, wait
        There is room behind the gate; even so, nothing may enter in this cycle, but will soon.
    enter_r, enter_s
        A tuple enters in this cycle.
    full_r, full_s
        It pushes another one out of its window.
    draining, moving
        No more tuples come; something is still under way.
    drain, drained, halted, discarding, dropped, overflows
        As in :class:`streamjoin.hdl.lockstep.join.LockStepJoin`.
    starting
        Between a reset and the first tuple: whatever comes out of the cores is of no account.
    """

    def __init__(
        self,
        layout: TupleLayout,
        windows: tuple[int, int],
        *,
        on_full: str,
        start: int,
        settle: int,
        longest_wait: int = 0,
    ):
        self._layout = layout
        self._windows = windows
        self._drop = on_full == "drop"
        self._start = start
        self._settle = settle
        self._longest_wait = longest_wait
        super().__init__(
            {
                **input_ports(layout),
                "room": In(1),
                "wait": In(1),
                "enter_r": Out(1),
                "enter_s": Out(1),
                "full_r": Out(1),
                "full_s": Out(1),
                "draining": Out(1),
                "moving": In(1),
                **CONTROL,
                "starting": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.run = run = RunLifecycle(start=self._start, settle=self._settle)
        m.d.comb += [
            run.drain.eq(self.drain),
            run.moving.eq(self.moving),
            self.starting.eq(run.starting),
            self.draining.eq(run.draining),
            self.drained.eq(run.drained),
        ]
        admit = Signal()
        sides = [
            (self.i_r, self.enter_r, self.full_r, self._windows[0]),
            (self.i_s, self.enter_s, self.full_s, self._windows[1]),
        ]
        waited = Signal(range(self._longest_wait + 1))
        held_up = waited == self._longest_wait
        m.d.sync += waited.eq(Mux(self.wait, waited + ~held_up, 0))
        m.d.comb += [
            self.halted.eq(run.taking & (~self.room | (self.wait & held_up))),
            admit.eq(run.taking & self.room & ~self.wait),
        ]
        for port, enter, full, window in sides:
            # Once full, always full: a register of its own, that nobody has to wait for a comparison.
            live = Signal(range(window), name=f"live_{enter.name[-1]}")
            with m.If(enter):
                m.d.sync += [live.eq(live + 1), full.eq(full | (live == window - 1))]
            m.d.comb += [
                enter.eq(admit & port.valid),
                port.ready.eq(admit | self.discarding),
            ]
        if self._drop:
            drop_while(m, self.halted, self, [self.i_r, self.i_s])
        if self._layout.spans is not None:
            early = Cat(
                pushed_out_early(m, enter.name[-1], port.p.time, enter, full, window, span)
                for (port, enter, full, window), span in zip(sides, self._layout.spans, strict=True)
            )
            m.d.sync += self.overflows.eq(self.overflows + early[0] + early[1])
        return m
