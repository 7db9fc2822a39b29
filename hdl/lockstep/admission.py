"""Admission control: the input gate of a lock-step join, which paces its cores and pushes it empty at the end."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.base.parameters import ON_FULL
from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import CONTROL, input_ports
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.dropping import drop_while
from streamjoin.hdl.lib.run_lifecycle import RunLifecycle
from streamjoin.hdl.lockstep.core import COMMAND


class Admission(Part):
    """Turns two input streams into commands and tuples for the chain of cores.

    Both inputs share one ``ready``. So whatever waits at the gate enters together, R before S, and the order in which
    tuples are accepted, with R first within a cycle, is the arrival order that decides the result.

    The gate opens in the first cycle after the cores' pace allows it. While ``halt`` is up (some core asks for it)
    nothing moves: the gate stays shut, its clock for the pace stands still, and the cores are told not to run,
    so cores and gate agree on the time without ever talking about it.

    With ``on_full="drop"`` tuples that arrive during a halt are taken and thrown away: ``discarding`` is up in the
    cycle of the transfer, and ``dropped`` counts them. Without a halt nothing is ever dropped; tuples then wait for
    the pace as they do with ``"stall"``.

    After a reset the gate stays shut for ``start`` cycles: a reset takes its time, too, to reach every core.

    Draining: two tuples that are both in the chain meet only as further arrivals push them past each other.
    Therefore ``drain`` makes the gate feed ``drain_steps`` empty slots into one stream; with as many steps as that
    window is long every tuple of the stream passes all cores, and so every tuple of the other stream. Then it waits
    until the last of them must have shown in ``busy``, and until ``busy`` is down. From then on ``drained`` is up;
    only a reset makes the gate take tuples again.

    Most slots of a long window that was never filled are empty, and cores that compare for thousands of cycles a step
    would compare nothing. With ``glance`` the gate looks, before each step but the first, whether ``moving`` says that
    any tuple is about to enter another core, and lets the cores skip the comparisons if not.

    Parameters
    ----------
    layout
        Layouts.
    pace
        Cycles from one command to the next.
    on_full
        ``"stall"`` or ``"drop"``.
    drain_stream, drain_steps
        Which stream (``"r"`` or ``"s"``) to push while draining, and how far.
    start
        Cycles after a reset until the cores and all they say of themselves have been reset.
    settle
        Cycles after which the effect of a command shows in ``busy``.
    glance
        Cycles after which the effect of a command shows in ``moving``; ``None`` to compare in every step.

    Members
    -------
    i_r, i_s
        Tuples in.
    halt, busy, moving
        From the cores: stop; there is still something inside; the next step takes a tuple into another core.
    command
        For all cores, one cycle after the transfer that caused it.
    r, s
        The tuples that go with the command, empty slots while draining.
    early_r, early_s
        A tuple has just been pushed out of its time-based window before its time was up.
    drain, drained, halted, discarding, dropped, overflows
        As described above, and in :class:`streamjoin.hdl.lockstep.join.LockStepJoin`.
    starting
        Between a reset and the first tuple: whatever comes out of the cores is of no account.
    """

    def __init__(
        self,
        layout: TupleLayout,
        pace: Pace,
        *,
        on_full: str,
        drain_stream: str,
        drain_steps: int,
        start: int,
        settle: int,
        glance: int | None = None,
    ):
        if on_full not in ON_FULL:
            raise ValueError(f"on_full is one of {', '.join(ON_FULL)}, not {on_full!r}")
        paces = (pace.r, pace.s, pace.both)
        if max(paces) > 1 and min(paces) < 2:
            raise ValueError(f"a pace is one cycle for all commands or at least two for each, not {pace}")
        if glance is not None and max(paces) == 1:
            raise ValueError("cores that take a command in every cycle leave no time to glance: give none")
        self._timed = layout.spans is not None
        self._pace = pace
        self._drop = on_full == "drop"
        self._drain_stream = drain_stream
        self._drain_steps = drain_steps
        self._start = start
        self._settle = settle
        self._glance = glance
        super().__init__(
            {
                **input_ports(layout),
                "halt": In(1),
                "busy": In(1),
                "moving": In(1),
                "command": Out(COMMAND),
                "r": Out(layout.slot),
                "s": Out(layout.slot),
                "early_r": In(1),
                "early_s": In(1),
                **CONTROL,
                "starting": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        ports = {"r": self.i_r, "s": self.i_s}
        slots = {"r": self.r, "s": self.s}
        # What happens in this cycle; the command follows in the next.
        enter = {name: Signal(name=f"enter_{name}") for name in ports}
        skip = Signal()
        open_ = Signal()
        m.submodules.run = run = RunLifecycle(start=self._start, settle=self._settle, pushes=True)
        cost = Signal(range(max(self._pace.r, self._pace.s, self._pace.both, self._glance or 0) + 1))
        cadence = self._cadence(m, enter, cost)
        m.d.comb += [
            open_.eq(cadence & ~self.halt),
            run.drain.eq(self.drain),
            run.moving.eq(self.busy),
            self.starting.eq(run.starting),
            self.drained.eq(run.drained),
            self.halted.eq(self.halt & ~self.starting),
        ]
        m.d.sync += [
            self.command.run.eq(~self.halt),
            self.command.enter_r.eq(enter["r"]),
            self.command.enter_s.eq(enter["s"]),
            self.command.skip.eq(skip),
        ]

        for name, port in ports.items():
            taken = Signal(name=f"taken_{name}")
            m.d.comb += [
                port.ready.eq(run.taking & (open_ | self.discarding)),
                taken.eq(run.taking & open_ & port.valid),
            ]
            with m.If(taken):
                m.d.comb += enter[name].eq(1)
            m.d.sync += [slots[name].valid.eq(taken), slots[name].tuple.eq(port.p)]
        if self._drop:
            drop_while(m, run.taking & self.halt, self, list(ports.values()))
        if self._timed:
            with m.If(~self.starting):
                m.d.sync += self.overflows.eq(self.overflows + self.early_r + self.early_s)

        steps = Signal(range(self._drain_steps + 1), init=self._drain_steps)
        looked = Signal()
        with m.If(run.pushing & open_):
            with m.If(steps == 0):
                m.d.comb += run.pushed.eq(1)
            with m.Else():
                m.d.comb += enter[self._drain_stream].eq(1)
                m.d.sync += [steps.eq(steps - 1), looked.eq(1)]
                if self._glance is not None:
                    comparing = max(getattr(self._pace, self._drain_stream), self._glance)
                    m.d.comb += [
                        skip.eq(looked & ~self.moving),
                        cost.eq(Mux(skip, self._glance, comparing)),
                    ]
        return m

    def _cadence(self, m, enter, cost):
        """A bit that is up when the cores' pace allows the next command; ``cost`` is that of the one that enters."""
        pace = self._pace
        m.d.comb += cost.eq(Mux(enter["r"], Mux(enter["s"], pace.both, pace.r), pace.s))
        if pace == Pace(1, 1, 1):
            return 1
        ahead = Signal.like(cost)
        at_once = Signal(init=1)
        with m.If(enter["r"] | enter["s"]):
            m.d.sync += [ahead.eq(cost - 1), at_once.eq(0)]
        with m.Elif(~self.halt & ~at_once):
            m.d.sync += [ahead.eq(ahead - 1), at_once.eq(ahead == 1)]
        return at_once
