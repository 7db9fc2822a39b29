"""A sorter that takes a tuple a cycle: merge sort, each pass of it a stage of its own."""

from itertools import pairwise

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.fifo import FIFO


def batch_item(shape) -> data.StructLayout:
    """A tuple of a batch, or the end of the batch, which stands behind its last tuple."""
    return data.StructLayout({"tuple": shape, "end": 1})


#: Runs above this wait in block RAM, which shows a word too late in a cycle to compare it.
_RUN_IN_BLOCK_RAM = 16


class MergeStage(Part):
    """Sorted runs of n tuples come in, sorted runs of 2n go out; the last run of a batch may be shorter.

    Runs go in turns into two queues, and the smaller of the two heads leaves. The second queue begins to fill when the
    first run is in, and from then on a tuple leaves for each that enters: n places in each queue are enough. The end of
    a batch enters both queues, and leaves when it is at the head of both; so no counts are needed to know that a run is
    a short one. With an output that keeps taking, one item enters in every cycle, and nothing waits for itself: the
    first queue has room for a whole run and the end behind it.

    Parameters
    ----------
    shape
        A tuple with a ``key``.
    run
        n.

    Members
    -------
    i, o
        Batches in, batches out.
    busy
        Something is inside.
    """

    def __init__(self, shape, run: int):
        self._item = batch_item(shape)
        self._run = run
        super().__init__(
            {"i": In(stream.Signature(self._item)), "o": Out(stream.Signature(self._item)), "busy": Out(1)}
        )

    def elaborate(self, platform):
        m = Module()
        # What a short run needs more makes up for the delay of the queues; it would double the memory of a long one.
        places = self._run + min(4, 64 // self._run)
        m.submodules.first = first = FIFO(self._item, places)
        m.submodules.second = second = FIFO(self._item, places)
        self._enter(m, first, second)
        heads = [self._head(m, name, queue) for name, queue in (("first", first), ("second", second))]
        self._leave(m, *(head.o for head in heads))
        m.d.comb += self.busy.eq(Cat(queue.busy for queue in (first, second, *heads)).any())
        return m

    def _head(self, m, name, queue):
        """The queue whose exit is compared: of a deep one, a short one behind it."""
        if self._run <= _RUN_IN_BLOCK_RAM:
            return queue
        m.submodules[f"{name}_head"] = head = FIFO(self._item, 2)
        connect(m, queue.o, head.i)
        return head

    def _enter(self, m, first, second):
        fills_second = Signal()
        count = Signal(range(self._run))
        ends = self.i.p.end
        m.d.comb += [
            self.i.ready.eq((first.i.ready | (fills_second & ~ends)) & (second.i.ready | ~(fills_second | ends))),
            first.i.p.eq(self.i.p),
            second.i.p.eq(self.i.p),
            first.i.valid.eq(self.i.valid & Mux(ends, second.i.ready, ~fills_second)),
            second.i.valid.eq(self.i.valid & Mux(ends, first.i.ready, fills_second)),
        ]
        with m.If(self.i.valid & self.i.ready):
            with m.If(ends):
                m.d.sync += [count.eq(0), fills_second.eq(0)]
            with m.Elif(count == self._run - 1):
                m.d.sync += [count.eq(0), fills_second.eq(~fills_second)]
            with m.Else():
                m.d.sync += count.eq(count + 1)

    def _leave(self, m, first, second):
        # How many of the two runs at the heads have left, as far as it matters: all of them, or not.
        taken = [Signal(range(self._run + 1), name=f"taken{n}") for n in (1, 2)]
        gone = [Signal(name=f"gone{n}") for n in (1, 2)]
        has = [head.valid & ~head.p.end & ~over for head, over in zip((first, second), gone, strict=True)]
        known = [head.valid | over for head, over in zip((first, second), gone, strict=True)]
        second_is_smaller = second.p.tuple.key < first.p.tuple.key
        take = [Signal(name=f"take{n}") for n in (1, 2)]
        ends = Signal()
        m.d.comb += [
            take[0].eq(has[0] & known[1] & ~(has[1] & second_is_smaller)),
            take[1].eq(has[1] & known[0] & ~(has[0] & ~second_is_smaller)),
            ends.eq(first.valid & first.p.end & second.valid & second.p.end),
            self.o.valid.eq(take[0] | take[1] | ends),
            self.o.p.tuple.eq(Mux(take[1], second.p.tuple.as_value(), first.p.tuple.as_value())),
            # Whether the next stage is ready depends on this, so it must not wait for the keys to be compared.
            self.o.p.end.eq(ends),
            first.ready.eq(self.o.ready & (take[0] | ends)),
            second.ready.eq(self.o.ready & (take[1] | ends)),
        ]
        with m.If(self.o.ready):
            for n in (0, 1):
                with m.If(take[n]):
                    m.d.sync += [taken[n].eq(taken[n] + 1), gone[n].eq(taken[n] == self._run - 1)]
            both_gone = Cat(gone[n] | (take[n] & (taken[n] == self._run - 1)) for n in (0, 1)).all()
            with m.If(ends | both_gone):
                m.d.sync += [signal.eq(0) for signal in (*taken, *gone)]


class Sorter(Part):
    """Sorts batches of up to ``most`` tuples by their key.

    As many stages as it takes to double one tuple to a batch. A tuple enters in every cycle, also while the batch
    before it leaves; a batch of n has left about n + 3 cycles a stage after its end went in. All stages together have
    room for two batches, in queues: memory, not registers, of each stage twice that of the one before. With an output
    that stalls it fills, and then takes no more.

    Parameters
    ----------
    shape
        A tuple with a ``key``.
    most
        Tuples in a batch, at most.

    Members
    -------
    i, o
        Tuples and the ends of batches in; the same out, each batch sorted.
    busy
        Something is inside.
    """

    def __init__(self, shape, most: int):
        self._stages = [(shape, 1 << n) for n in range(ceil_log2(most))]
        item = stream.Signature(batch_item(shape))
        super().__init__({"i": In(item), "o": Out(item), "busy": Out(1)})

    def elaborate(self, platform):
        m = Module()
        stages = [MergeStage(*stage) for stage in self._stages]
        for n, stage in enumerate(stages):
            m.submodules[f"stage{n}"] = stage
        m.submodules.sorted = leaving = FIFO(self.o.p.shape(), 2)
        passed = (*stages, leaving)
        ends = [flipped(self.i), *(port for part in passed for port in (part.i, part.o)), flipped(self.o)]
        for source, sink in list(pairwise(ends))[::2]:
            connect(m, source, sink)
        m.d.comb += self.busy.eq(Cat(part.busy for part in passed).any())
        return m
