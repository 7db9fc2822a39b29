"""The run lifecycle: from a reset, while tuples may come, to the end of a drain."""

from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part


class RunLifecycle(Part):
    """The state machine of a gate: START, TAKE, PUSH, SETTLE, DRAINED, in this order, each entered once a run.

    START lasts ``start`` cycles and one more. TAKE, in which tuples may come, lasts until ``drain``. Then no more come,
    and what is due leaves. PUSH, which only some gates have, lasts while the gate pushes it out, until ``pushed``.
    SETTLE lasts until nothing moves any more. DRAINED lasts until a reset.

    When nothing moves any more. What goes on by itself may be out of sight between two places: so ``moving`` has to be
    down for ``settle`` cycles without a break. What the gate has pushed shows ``settle`` cycles after the last push at
    the latest, and from then on until it has left: so after that time the first cycle without ``moving`` will do.

    Parameters
    ----------
    start
        Cycles after a reset until whatever is behind the gate has been reset.
    settle
        Cycles after which whatever moves shows.
    pushes
        Whether the gate has to push out what is due.

    Members
    -------
    drain
        No more tuples come: may go down again.
    pushed
        All that is due has been pushed out; with ``pushes`` only.
    moving
        Something is still under way.
    starting
        Between a reset and the first tuple: whatever comes out of the cores is of no account.
    taking, pushing
        The states TAKE and PUSH.
    draining
        No more tuples come: PUSH, SETTLE and DRAINED.
    drained
        All that was due has left.
    """

    def __init__(self, *, start: int, settle: int, pushes: bool = False):
        self._start = start
        self._settle = settle
        self._pushes = pushes
        super().__init__(
            {
                "drain": In(1),
                "pushed": In(1),
                "moving": In(1),
                "starting": Out(1, init=1),  # pyright: ignore[reportCallIssue] (the stubs know it as reset)
                "taking": Out(1),
                "pushing": Out(1),
                "draining": Out(1),
                "drained": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        shut = Signal(range(self._start + 1), init=self._start)
        settling = Signal(range(self._settle + 1), init=self._settle)
        with m.FSM():
            with m.State("START"):
                m.d.sync += shut.eq(shut - 1)
                with m.If(shut == 0):
                    m.d.sync += [self.starting.eq(0), self.taking.eq(1)]
                    m.next = "TAKE"
            with m.State("TAKE"):
                with m.If(self.drain):
                    m.d.sync += [self.taking.eq(0), self.draining.eq(1)]
                    m.next = "PUSH" if self._pushes else "SETTLE"
            if self._pushes:
                with m.State("PUSH"):
                    m.d.comb += self.pushing.eq(1)
                    with m.If(self.pushed):
                        m.next = "SETTLE"
            with m.State("SETTLE"):
                if self._pushes:
                    with m.If(settling != 0):
                        m.d.sync += settling.eq(settling - 1)
                    with m.Elif(~self.moving):
                        m.next = "DRAINED"
                else:
                    with m.If(self.moving):
                        m.d.sync += settling.eq(self._settle)
                    with m.Elif(settling != 0):
                        m.d.sync += settling.eq(settling - 1)
                    with m.Else():
                        m.next = "DRAINED"
            with m.State("DRAINED"):
                m.d.comb += self.drained.eq(1)
        return m
