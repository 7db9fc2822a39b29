"""The path merger: makes one part of what two sorted arrays merge into, and finds by itself what goes there."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.bisort.range_reader import RangeReader
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.line_memory import line_write
from streamjoin.hdl.lib.request import request_response


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
                "main": Out(request_response(lines, arrays.line)),
                "batch": Out(request_response(range(2 * arrays.half // arrays.lanes), arrays.line)),
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

        main = _Source(m, "main", mains, place=job.main, count=job.mains)
        batch = _Source(m, "fresh", fresh, place=job.batch, count=job.fresh)
        main_is_first = main.head.tuple.key <= batch.head.tuple.key
        begin = Signal.like(self.begin)
        # The search: i lies in low .. high.
        low, high = Signal.like(job.mains), Signal.like(job.mains)
        m.d.comb += self.mine.mains.eq(low)
        m.d.sync += self.mine.fresh.eq(begin - low)
        # Where the batch's tuple lies that ends the first ``begin`` with none of the main array's.
        edge = Signal.like(job.batch)
        m.d.sync += edge.eq(job.batch + begin - 1)
        last = Signal()
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.done.eq(1)
                with m.If(self.start):
                    total = job.mains + job.fresh
                    m.d.sync += [self.mine.known.eq(0), begin.eq(Mux(self.begin < total, self.begin, total))]
                    m.next = "FRAME"
            with m.State("FRAME"):
                m.d.sync += [
                    low.eq(Mux(begin > job.fresh, begin - job.fresh, 0)),
                    high.eq(Mux(begin < job.mains, begin, job.mains)),
                ]
                m.next = "SEARCH"
            self._search(m, main, batch, main_is_first, low, high, edge)
            self._agree(m, main, batch)
            self._merge(m, main, batch, main_is_first, ~lines.almost_full, last)

        taken = Signal(arrays.tuple, reset_less=True)
        packs, packs_last = Signal(), Signal()
        m.d.sync += [
            taken.eq(Mux(main.takes, main.head.tuple.as_value(), batch.head.tuple.as_value())),
            packs.eq(main.takes | batch.takes),
            packs_last.eq(last),
        ]
        self._pack(m, lines.i, taken.as_value(), packs, packs_last, begin)
        return m

    def _search(self, m, main, batch, main_is_first, low, high, edge):
        """States: halve what lies between low and high until nothing does."""
        middle = Signal.like(low)
        with m.State("SEARCH"):
            m.d.sync += middle.eq((low + high) >> 1)
            m.next = "AIM"
            with m.If(low == high):
                m.next = "AGREE"
        with m.State("AIM"):
            m.d.sync += [main.at.eq(self.job.main + middle), batch.at.eq(edge - middle)]
            m.d.sync += [main.asked.eq(0), batch.asked.eq(0)]
            m.next = "LOOK"
        with m.State("LOOK"):
            main.request(m, 1)
            batch.request(m, 1)
            with m.If(main.valid & batch.valid):
                m.d.comb += [main.ready.eq(1), batch.ready.eq(1)]
                with m.If(main_is_first):
                    m.d.sync += low.eq(middle + 1)
                with m.Else():
                    m.d.sync += high.eq(middle)
                m.next = "SEARCH"

    def _agree(self, m, main, batch):
        """States: wait until the next merger knows where it begins, and ask for what comes before that."""
        with m.State("AGREE"):
            m.d.sync += self.mine.known.eq(1)
            m.d.sync += [
                main.left.eq(self.next.mains - self.mine.mains),
                batch.left.eq(self.next.fresh - self.mine.fresh),
            ]
            with m.If(self.mine.known & self.next.known):
                m.next = "ASK"
        with m.State("ASK"):
            m.d.sync += [main.at.eq(self.job.main + self.mine.mains), batch.at.eq(self.job.batch + self.mine.fresh)]
            m.d.sync += [source.asked.eq(source.left == 0) for source in (main, batch)]
            m.d.sync += [source.some.eq(source.left != 0) for source in (main, batch)]
            m.next = "MERGE"
            with m.If((main.left == 0) & (batch.left == 0)):
                m.next = "IDLE"

    def _merge(self, m, main, batch, main_is_first, room, last):
        """State: take the smaller of both heads; ``last``: there is no tuple behind it."""
        with m.State("MERGE"):
            # The ranges are asked for with what is left of them, which is all until they have been asked for.
            main.request(m, main.left)
            batch.request(m, batch.left)
            both = main.valid & batch.valid
            m.d.comb += [
                main.takes.eq(room & main.some & Mux(batch.some, both & main_is_first, main.valid)),
                batch.takes.eq(room & batch.some & Mux(main.some, both & ~main_is_first, batch.valid)),
            ]
            for source in (main, batch):
                m.d.comb += source.ready.eq(source.takes)
                m.d.sync += source.left.eq(source.left - source.takes)
            ends_main, ends_batch = main.left == 1, batch.left == 1
            with m.If(main.takes & ends_main):
                m.d.sync += main.some.eq(0)
            with m.If(batch.takes & ends_batch):
                m.d.sync += batch.some.eq(0)
            m.d.comb += last.eq(Mux(main.some, ends_main & ~batch.some, ends_batch))
            with m.If((main.takes | batch.takes) & last):
                m.next = "IDLE"

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


class _Source:
    """One of the two arrays as a merger reads it; as hardware, a few registers in the module ``m``.

    Attributes
    ----------
    at, asked
        Where to read; it has been requested, or need not be.
    left, some
        How many tuples are left to be merged; whether there are any.
    head, valid, ready
        The next tuple.
    takes
        It is merged in this cycle.
    """

    def __init__(self, m, name: str, reader: RangeReader, *, place, count):
        self.at = Signal.like(place, name=f"at_{name}")
        self.asked = Signal(name=f"asked_{name}")
        self.left = Signal.like(count, name=f"left_{name}")
        self.some = Signal(name=f"has_{name}")
        self.takes = Signal(name=f"takes_{name}")
        self.head, self.valid, self.ready = reader.o.p, reader.o.valid, reader.o.ready
        self._extents = reader.i
        m.d.comb += reader.i.p.first.eq(self.at)

    def request(self, m, count):
        """Request so many tuples once, from where to read."""
        m.d.comb += [self._extents.valid.eq(~self.asked), self._extents.p.count.eq(count)]
        with m.If(self._extents.ready):
            m.d.sync += self.asked.eq(1)
