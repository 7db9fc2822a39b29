"""The arrival sequencer: the input gate of a multi-way join, which tuples pass one by one and numbered."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import CONTROL, input_ports
from streamjoin.hdl.lib.dropping import drop_while
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.one_hot import lowest_set, one_hot_mux
from streamjoin.hdl.lib.overflow import pushed_out_early
from streamjoin.hdl.lib.run_lifecycle import RunLifecycle
from streamjoin.hdl.multiway.combination import Combination


class ArrivalSequencer(Part):
    """Serialises the arrivals of all streams, and bounds how many are under way.

    All inputs share one ``ready``: what waits at the gate enters together, in the order of the streams, and then goes
    on one in a cycle. No more than ``flight`` arrivals are under way, counted from the oldest that is not complete.
    Some complete in their order, such as those of one stream; so it is enough to remember in which *line* each is.

    Parameters
    ----------
    combination
        Layouts.
    windows
        Tuples in the window of each stream.
    lines
        For each stream, the line in which its arrivals complete: those of one line do so in their order.
    on_full
        ``"stall"`` or ``"drop"``: what to do with tuples that come while others wait for room.
    start, settle
        As in :class:`streamjoin.hdl.lib.input_gate.InputGate`.

    Members
    -------
    i_s1, i_s2, …
        Tuples in.
    goes, arrival
        An arrival goes on in this cycle; ``ahead`` is its stream.
    complete
        For each line: one of its arrivals is complete.
    busy
        There are results that have not left; with arrivals that are not complete, what a drain waits for.
    drain, drained, halted, discarding, dropped, overflows, starting
        As in :class:`streamjoin.hdl.lib.input_gate.InputGate`.
    """

    def __init__(
        self,
        combination: Combination,
        windows: tuple[int, ...],
        *,
        lines: tuple[int, ...],
        on_full: str,
        start: int,
        settle: int,
    ):
        self._combination = combination
        self._windows = windows
        self._lines = lines
        self._drop = on_full == "drop"
        self._start = start
        self._settle = settle
        super().__init__(
            {
                **input_ports(combination.layout),
                "goes": Out(1),
                "arrival": Out(combination.arrival),
                "complete": In(max(lines) + 1),
                "busy": In(1),
                **CONTROL,
                "starting": Out(1),
            }
        )

    @property
    def ports(self):
        """The inputs in the order of the streams."""
        return [getattr(self, f"i_{side}") for side in self._combination.layout.sides]

    def elaborate(self, platform):
        m = Module()
        combination, streams = self._combination, self._combination.streams
        m.submodules.run = run = RunLifecycle(start=self._start, settle=self._settle)
        room, passes, opens = Signal(), Signal(), Signal()
        # Those that wait after this cycle, and in this one; ``vacant``: the last of them, if there is one, goes now.
        to_wait, waiting, vacant = Signal(streams), Signal(streams), Signal(init=1)
        first = lowest_set(waiting)
        room_next = self._count_flight(m, passes, first)
        m.d.sync += [
            room.eq(room_next),
            waiting.eq(to_wait),
            vacant.eq(~to_wait.any() | (room_next & (to_wait == lowest_set(to_wait)))),
        ]
        m.d.comb += [
            passes.eq(waiting.any() & room),
            self.halted.eq(run.taking & waiting.any() & ~room),
            opens.eq(run.taking & vacant),
            to_wait.eq(Mux(passes, waiting ^ first, waiting)),
        ]
        with m.If(opens):
            m.d.comb += to_wait.eq(Cat(port.valid for port in self.ports))
        for port in self.ports:
            m.d.comb += port.ready.eq(opens | self.discarding)
        tuples = [Signal(combination.layout.tuple, name=f"tuple{n}", reset_less=True) for n in range(streams)]
        for tuple_, port in zip(tuples, self.ports, strict=True):
            with m.If(opens):
                m.d.sync += tuple_.eq(port.p)
        if self._drop:
            drop_while(m, self.halted, self, self.ports)

        m.d.sync += [
            self.goes.eq(passes),
            self.arrival.tuple.eq(one_hot_mux(first, tuples)),
            self.arrival.ahead.eq(one_hot_mux(first, range(streams))),
        ]
        if combination.span is not None:
            self._count_overflows(m, combination.span)
        m.d.comb += [
            run.drain.eq(self.drain),
            run.moving.eq(self.busy | waiting.any() | self.goes | self._under_way.any()),
            self.starting.eq(run.starting),
            self.drained.eq(run.drained),
        ]
        return m

    def _count_flight(self, m, passes, first):
        """Number arrivals, and take note of those that are complete, oldest first.

        Returns whether there is room for another one in the next cycle, as far as is known.
        """
        flight, lines = self._combination.flight, len(self.complete)
        m.submodules.turns = turns = FIFO(range(lines), flight)
        under_way = Signal(range(flight + 1))
        number = Signal(self._combination.number)
        counted = [Signal(range(flight + 1), name=f"counted{n}") for n in range(lines)]
        some = Signal(lines)  # of the line are complete, and still counted
        retires = Signal()
        m.d.comb += [
            retires.eq(turns.o.valid & some.bit_select(turns.o.p, 1)),
            turns.o.ready.eq(retires),
            turns.i.p.eq(
                Cat(
                    Cat(first[n] for n, line in enumerate(self._lines) if line >> bit & 1).any()
                    for bit in range(len(turns.i.p))
                )
            ),
            turns.i.valid.eq(passes),
        ]
        m.d.sync += under_way.eq(under_way + passes - retires)
        # The stages are reset later than the gate: until then they may still complete arrivals of before.
        complete = self.complete & ~self.starting.replicate(lines)
        for n, count in enumerate(counted):
            goes = retires & (turns.o.p == n)
            m.d.sync += count.eq(count + complete[n] - goes)
            with m.If(complete[n]):
                m.d.sync += some[n].eq(1)
            with m.Elif(goes & (count == 1)):
                m.d.sync += some[n].eq(0)
        with m.If(passes):
            m.d.sync += [self.arrival.number.eq(number), number.eq(number + 1)]
        self._under_way = under_way
        return Mux(passes, under_way < flight - 1, under_way < flight)

    def _count_overflows(self, m, span: int):
        """Tuples that leave a time-based window too early."""
        early = []
        for n, (side, window) in enumerate(zip(self._combination.layout.sides, self._windows, strict=True)):
            enter, full = Signal(name=f"enter_{side}"), Signal(name=f"full_{side}")
            live = Signal(range(window + 1), name=f"live_{side}")
            m.d.comb += [enter.eq(self.goes & (self.arrival.ahead == n)), full.eq(live == window)]
            m.d.sync += live.eq(live + (enter & ~full))
            time = self.arrival.tuple.time
            early.append(pushed_out_early(m, side, time, enter, full, window, span))
        m.d.sync += self.overflows.eq(self.overflows + Cat(early).any())
