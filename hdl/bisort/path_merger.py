"""A merger of two sorted arrays that makes one part of the outcome, and finds by itself what it is made of."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.bisort.range_reader import RangeReader
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.line_memory import line_write
from streamjoin.hdl.lib.request import service


def merge_job(arrays: SortedArrays) -> data.StructLayout:
    """What is to be merged: the main array at ``main``, a batch at ``batch``, into what begins at ``into``."""
    count = range(arrays.subwindow + 1)
    place = range(arrays.places)
    return data.StructLayout(
        {"main": place, "mains": count, "batch": range(2 * arrays.half), "fresh": count, "into": place}
    )


def split(arrays: SortedArrays) -> wiring.Signature:
    """Where a merger begins in both arrays, once it knows."""
    count = range(arrays.subwindow + 1)
    return wiring.Signature({"known": Out(1), "mains": Out(count), "fresh": Out(count)})


class PathMerger(Part):
    """Makes the tuples from ``begin`` on of the array that two others merge into, up to where the next merger begins.

    First a search along the merge path: of the first ``begin`` tuples of the outcome i are from the main array and
    ``begin - i`` from the batch; the right i is found by halving, since ``main[i] <= batch[begin - 1 - i]`` holds for
    all i that are too small and for no other. Each step reads one tuple of each array. Then one tuple a cycle: the
    smaller of the heads of both, main first if they are equal, until what is left of both up to the next merger's
    beginning is used up. Whole lines are written, so mergers must begin at lines; the last line of all may be filled
    with anything.

    A step of the search takes as long as reading takes, and five cycles; there are at most as many as the batch, or
    the main array if it is shorter, can be halved.

    Parameters
    ----------
    arrays
        Layouts and sizes.
    ahead
        Lines that are read ahead of each array.

    Members
    -------
    start, job
        Begin; what is to be merged, which stands still until ``done``.
    begin
        Which tuple of the outcome is the first; beyond the end if there is nothing to do.
    mine, next
        Where this merger begins, and the next one, or where the arrays end.
    main, batch
        The memories of both arrays.
    o
        Lines to be written.
    done
        All of them are on their way.
    """

    def __init__(self, arrays: SortedArrays, *, ahead: int):
        self._arrays, self._ahead = arrays, ahead
        lines = range(arrays.places // arrays.lanes)
        super().__init__(
            {
                "start": In(1),
                "job": In(merge_job(arrays)),
                # Beyond the end by less than a line for each merger; and there are no more of them than lanes.
                "begin": In(range(arrays.subwindow + arrays.lanes**2 + 1)),
                "mine": Out(split(arrays)),
                "next": In(split(arrays)),
                "main": Out(service(lines, arrays.line)),
                "batch": Out(service(range(2 * arrays.half // arrays.lanes), arrays.line)),
                "o": Out(stream.Signature(line_write(arrays.line, arrays.places // arrays.lanes))),
                "done": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        arrays, job = self._arrays, self.job
        sizes = {"lanes": arrays.lanes, "most": arrays.subwindow, "ahead": self._ahead}
        m.submodules.mains = mains = RangeReader(arrays.tuple, places=arrays.places, **sizes)
        m.submodules.fresh = fresh = RangeReader(arrays.tuple, places=2 * arrays.half, **sizes)
        # A tuple that is taken is in a line one cycle later, and the line in this queue another one later.
        m.submodules.lines = lines = FIFO(line_write(arrays.line, arrays.places // arrays.lanes), 6, margin=2)
        connect(m, mains.memory, flipped(self.main))
        connect(m, fresh.memory, flipped(self.batch))
        connect(m, lines.o, flipped(self.o))

        # The search: i lies in low .. high.
        low, high = Signal.like(job.mains), Signal.like(job.mains)
        middle = Signal.like(job.mains)
        total = job.mains + job.fresh
        begin = Signal.like(self.begin)
        left_main, left_fresh = Signal.like(job.mains), Signal.like(job.fresh)
        has_main, has_fresh = Signal(), Signal()
        main_is_first = mains.o.p.tuple.key <= fresh.o.p.tuple.key

        def read(m, reader, count, sent):
            """Ask a reader for a range once; ``sent`` tells that it has been asked, or need not be."""
            m.d.comb += [reader.i.valid.eq(~sent), reader.i.p.count.eq(count)]
            with m.If(reader.i.ready):
                m.d.sync += sent.eq(1)

        sent_main, sent_fresh = Signal(), Signal()
        # Where to read, in both memories; and where the batch's tuple lies that ends the first ``begin`` with none of
        # the main array's.
        at_main, at_fresh, edge = Signal.like(job.main), Signal.like(job.batch), Signal.like(job.batch)
        m.d.comb += [mains.i.p.first.eq(at_main), fresh.i.p.first.eq(at_fresh), self.mine.mains.eq(low)]
        m.d.sync += [self.mine.fresh.eq(begin - low), edge.eq(job.batch + begin - 1)]
        takes_main, takes_fresh, last = Signal(), Signal(), Signal()
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.done.eq(1)
                with m.If(self.start):
                    m.d.sync += [self.mine.known.eq(0), begin.eq(Mux(self.begin < total, self.begin, total))]
                    m.next = "FRAME"
            with m.State("FRAME"):
                m.d.sync += [
                    low.eq(Mux(begin > job.fresh, begin - job.fresh, 0)),
                    high.eq(Mux(begin < job.mains, begin, job.mains)),
                ]
                m.next = "SEARCH"
            with m.State("SEARCH"):
                m.d.sync += middle.eq((low + high) >> 1)
                m.next = "AIM"
                with m.If(low == high):
                    m.next = "AGREE"
            with m.State("AIM"):
                m.d.sync += [at_main.eq(job.main + middle), at_fresh.eq(edge - middle)]
                m.d.sync += [sent_main.eq(0), sent_fresh.eq(0)]
                m.next = "LOOK"
            with m.State("LOOK"):
                read(m, mains, 1, sent_main)
                read(m, fresh, 1, sent_fresh)
                with m.If(mains.o.valid & fresh.o.valid):
                    m.d.comb += [mains.o.ready.eq(1), fresh.o.ready.eq(1)]
                    with m.If(main_is_first):
                        m.d.sync += low.eq(middle + 1)
                    with m.Else():
                        m.d.sync += high.eq(middle)
                    m.next = "SEARCH"
            with m.State("AGREE"):
                m.d.sync += self.mine.known.eq(1)
                m.d.sync += [
                    left_main.eq(self.next.mains - self.mine.mains),
                    left_fresh.eq(self.next.fresh - self.mine.fresh),
                ]
                with m.If(self.mine.known & self.next.known):
                    m.next = "ASK"
            with m.State("ASK"):
                m.d.sync += [at_main.eq(job.main + self.mine.mains), at_fresh.eq(job.batch + self.mine.fresh)]
                m.d.sync += [sent_main.eq(left_main == 0), sent_fresh.eq(left_fresh == 0)]
                m.d.sync += [has_main.eq(left_main != 0), has_fresh.eq(left_fresh != 0)]
                m.next = "MERGE"
                with m.If((left_main == 0) & (left_fresh == 0)):
                    m.next = "IDLE"
            with m.State("MERGE"):
                # The ranges are asked for with what is left of them, which is all until they have been asked for.
                read(m, mains, left_main, sent_main)
                read(m, fresh, left_fresh, sent_fresh)
                room = ~lines.almost_full
                both = mains.o.valid & fresh.o.valid
                m.d.comb += [
                    takes_main.eq(room & has_main & Mux(has_fresh, both & main_is_first, mains.o.valid)),
                    takes_fresh.eq(room & has_fresh & Mux(has_main, both & ~main_is_first, fresh.o.valid)),
                    mains.o.ready.eq(takes_main),
                    fresh.o.ready.eq(takes_fresh),
                ]
                m.d.sync += [left_main.eq(left_main - takes_main), left_fresh.eq(left_fresh - takes_fresh)]
                ends_main, ends_fresh = left_main == 1, left_fresh == 1
                with m.If(takes_main & ends_main):
                    m.d.sync += has_main.eq(0)
                with m.If(takes_fresh & ends_fresh):
                    m.d.sync += has_fresh.eq(0)
                m.d.comb += last.eq(Mux(has_main, ends_main & ~has_fresh, ends_fresh))
                with m.If((takes_main | takes_fresh) & last):
                    m.next = "IDLE"
        taken = Signal(arrays.tuple, reset_less=True)
        packs, packs_last = Signal(), Signal()
        m.d.sync += [
            taken.eq(Mux(takes_main, mains.o.p.tuple.as_value(), fresh.o.p.tuple.as_value())),
            packs.eq(takes_main | takes_fresh),
            packs_last.eq(last),
        ]
        self._pack(m, lines.i, taken.as_value(), packs, packs_last, begin)
        return m

    def _pack(self, m, lines, taken, takes, last, begin):
        """Put tuples together to lines; there is room for them."""
        lanes = self._arrays.lanes
        lane = Signal(exact_log2(lanes))
        held = Signal(self._arrays.line, reset_less=True)
        number, first = Signal.like(lines.p.number), Signal.like(lines.p.number)
        done = Signal()
        m.d.sync += first.eq((self.job.into + begin) >> exact_log2(lanes))
        for n in range(lanes):
            with m.If(takes & (lane == n)):
                m.d.sync += held[n].eq(taken)
        m.d.comb += [done.eq(takes & ((lane == lanes - 1) | last)), lines.p.line.eq(held)]
        m.d.sync += [lines.valid.eq(done), lines.p.number.eq(first + number)]
        with m.If(takes):
            m.d.sync += [lane.eq(Mux(last, 0, lane + 1)), number.eq(Mux(last, 0, number + done))]
