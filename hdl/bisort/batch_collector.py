"""The batch collector: numbers the tuples of both streams, and sorts them in batches that end together."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import CONTROL, connect_gate, input_ports
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.hdl.bisort.sorter import Sorter, batch_item
from streamjoin.hdl.lib.input_gate import InputGate


class BatchCollector(Part):
    """An input gate, and a sorter for each stream behind it.

    Both streams' batches end together: when one has ``batch`` tuples or fills a subwindow, when there was room for
    ``patience`` cycles since the first tuple came, or when the join is drained. Each tuple gets the number of tuples of
    its own stream, and of the other one, that were let in before it, R before S in one cycle; both wrap round.

    A tuple of each stream enters in every cycle but the one at the end of a batch, as long as the sorters have room.

    Parameters
    ----------
    arrays
        Layouts and sizes.
    patience
        Cycles that the first tuple of a batch waits for others that find room, at most.
    on_full
        ``"stall"`` or ``"drop"``: what to do with tuples that find no room.

    Members
    -------
    i_r, i_s
        Tuples in.
    o_r, o_s
        Sorted batches.
    moving
        Something is still under way behind the sorters.
    drain, drained, halted, discarding, dropped, overflows
        As in :class:`InputGate`.
    """

    def __init__(self, arrays: SortedArrays, *, patience: int, on_full: str):
        self._arrays, self._patience, self._on_full = arrays, patience, on_full
        batches = stream.Signature(batch_item(arrays.tuple))
        super().__init__(
            {
                **input_ports(arrays.layout),
                "o_r": Out(batches),
                "o_s": Out(batches),
                "moving": In(1),
                **CONTROL,
            }
        )

    def elaborate(self, platform):
        m = Module()
        arrays = self._arrays
        m.submodules.gate = gate = InputGate(
            arrays.layout, arrays.windows, on_full=self._on_full, start=1, settle=4, longest_wait=7
        )
        connect_gate(m, self, gate, arrays.layout)

        others = {"r": 0, "s": gate.enter_r}  # R is the earlier of two that enter together
        sides = {"r": (self.i_r, gate.enter_r, self.o_r), "s": (self.i_s, gate.enter_s, self.o_s)}
        numbers = {side: Signal(arrays.number_width, name=f"number_{side}") for side in sides}
        closing, closed = Signal(), Signal()
        ready, last, some, ended, busy = [], [], [], [], []
        for side, other in ("rs", "sr"):
            port, enter, out = sides[side]
            m.submodules[f"sorter_{side}"] = sorter = Sorter(arrays.tuple, arrays.batch)
            connect(m, sorter.o, flipped(out))
            number = numbers[side]
            count = Signal(range(arrays.batch + 1), name=f"count_{side}")
            sent = Signal(name=f"sent_{side}")
            m.d.comb += [
                sorter.i.valid.eq(enter | (closing & ~sent)),
                sorter.i.p.end.eq(closing),
                *(sorter.i.p.tuple[field].eq(port.p[field]) for field in arrays.layout.arrival.members),
                sorter.i.p.tuple.number.eq(number),
                sorter.i.p.tuple.others.eq(numbers[other] + others[side]),
            ]
            with m.If(enter):
                m.d.sync += [number.eq(number + 1), count.eq(count + 1)]
            with m.If(closing):
                m.d.sync += sent.eq((sent | sorter.i.ready) & ~closed)
            with m.If(closed):
                m.d.sync += count.eq(0)
            place = number[: exact_log2(arrays.subwindow)]
            ready.append(sorter.i.ready)
            last.append(enter & ((count == arrays.batch - 1) | (place == arrays.subwindow - 1)))
            some.append(count != 0)
            ended.append(sent | sorter.i.ready)
            busy.append(sorter.busy)

        waited = Signal(range(self._patience + 1))
        collecting = Signal()
        m.d.comb += [
            gate.room.eq(Cat(ready).all()),
            gate.wait.eq(closing),
            collecting.eq(Cat(some).any()),
            closed.eq(closing & Cat(ended).all()),
            gate.moving.eq(self.moving | closing | collecting | Cat(busy).any()),
        ]
        with m.If(closing | ~collecting):
            m.d.sync += waited.eq(0)
        with m.Elif(gate.room & (waited != self._patience)):
            m.d.sync += waited.eq(waited + 1)
        with m.If(closing):
            m.d.sync += closing.eq(~closed)
        with m.Elif(Cat(last).any() | (collecting & (gate.draining | (waited == self._patience)))):
            m.d.sync += closing.eq(1)
        return m
