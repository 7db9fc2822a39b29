"""The insertion engine: mergers side by side that merge a batch into a main array."""

from itertools import pairwise

from amaranth.hdl import Module, ResetSignal, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.bisort.path_merger import PathMerger, merge_job
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.hdl.lib.line_memory import line_write
from streamjoin.hdl.lib.merging_tree import MergingTree
from streamjoin.hdl.lib.request import RequestArbiter, request_response, tagged
from streamjoin.hdl.lib.shift_add import shift_add


class InsertionEngine(Part):
    """Merges a batch into a main array, ``mergers`` tuples a cycle.

    The outcome is cut into as many parts as there are mergers, of as many lines each as can be; each merger makes one
    of them, and knows from its neighbour where to stop. They share the memories' ports: a merger uses a line in as many
    cycles as it has tuples, so if a line has as many tuples as there are mergers, one port to read main arrays, one to
    read batches and one to write are enough to keep all of them busy.

    Parameters
    ----------
    arrays
        Layouts and sizes.
    mergers
        How many, a power of two.
    ahead
        Lines that each reads ahead.

    Members
    -------
    start, job
        Begin; what to merge, which stands still until the engine is no longer busy.
    main, batch
        Both memories.
    o
        Lines to be written.
    busy
        Not all lines of the job have been written.
    """

    def __init__(self, arrays: SortedArrays, *, mergers: int, ahead: int):
        self._arrays, self._mergers, self._ahead = arrays, mergers, ahead
        self._lines = arrays.places // arrays.lanes
        self._batch_lines = 2 * arrays.half // arrays.lanes
        super().__init__(
            {
                "start": In(1),
                "job": In(merge_job(arrays)),
                "main": Out(request_response(tagged(range(self._lines), mergers), tagged(arrays.line, mergers))),
                "batch": Out(request_response(tagged(range(self._batch_lines), mergers), tagged(arrays.line, mergers))),
                "o": Out(stream.Signature(line_write(arrays.line, self._lines))),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        arrays, job, number = self._arrays, self.job, self._mergers
        m.submodules.main = main = RequestArbiter(range(self._lines), arrays.line, number)
        m.submodules.batch = batch = RequestArbiter(range(self._batch_lines), arrays.line, number)
        m.submodules.out = out = MergingTree(line_write(arrays.line, self._lines), number, depth=2)
        connect(m, main.server, flipped(self.main))
        connect(m, batch.server, flipped(self.batch))
        connect(m, out.o, flipped(self.o))
        m.d.comb += out.clear.eq(ResetSignal().replicate(len(out.clear)))

        bits = exact_log2(arrays.lanes)
        lines = Signal(range(arrays.subwindow // arrays.lanes + 1))
        left = Signal.like(lines)
        share = Signal.like(lines)
        starts = Signal(3)
        m.d.sync += [
            starts.eq(starts << 1 | self.start),
            lines.eq((job.mains + job.fresh + arrays.lanes - 1) >> bits),
            share.eq((lines + number - 1) >> exact_log2(number)),
        ]
        written = self.o.valid & self.o.ready
        with m.If(starts[1]):
            m.d.sync += left.eq(lines)
        with m.Elif(written):
            m.d.sync += left.eq(left - 1)
        with m.If(self.start):
            m.d.sync += self.busy.eq(1)
        with m.Elif(written & (left == 1)):
            m.d.sync += self.busy.eq(0)

        mergers = [PathMerger(arrays, ahead=self._ahead) for _ in range(number)]
        for n, merger in enumerate(mergers):
            m.submodules[f"merger{n}"] = merger
            m.d.comb += [
                merger.start.eq(starts[2]),
                merger.job.eq(job),
                merger.begin.eq(shift_add(share, n) << bits),
            ]
            connect(m, merger.main, main.clients[n])
            connect(m, merger.batch, batch.clients[n])
            connect(m, merger.o, out.i[n])
        for left_one, right_one in pairwise(mergers):
            connect(m, left_one.next, right_one.mine)
        m.d.comb += [
            mergers[-1].next.known.eq(1),
            mergers[-1].next.mains.eq(job.mains),
            mergers[-1].next.fresh.eq(job.fresh),
        ]
        return m
