"""The range reader: reads ranges of an array that lies in lines of a memory, and gives them tuple by tuple."""

from amaranth.hdl import Array, Module, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.request import request_response


def extent(places: int, most: int) -> data.StructLayout:
    """A range: the place of its first tuple, and how many there are."""
    return data.StructLayout({"first": range(places), "count": range(most + 1)})


class RangeReader(Part):
    """Ranges in, their tuples out, one a cycle.

    It asks for the lines of a range, and those of the next ranges, ahead of time, as long as it has room for them. So
    it gives a tuple in every cycle if there is room for as many tuples as the memory takes cycles to answer, six more,
    and the two lines that are cut short where one range ends and the next begins; and if ranges are of more than a
    line: a shorter one costs a cycle of asking, too.

    Parameters
    ----------
    shape
        What a tuple looks like.
    lanes
        Tuples in a line, a power of two.
    places, most
        Tuples in the memory, and in the longest range.
    ahead
        Lines that it has room for.

    Members
    -------
    i
        Ranges, of at least one tuple each.
    memory
        The memory's lines, by their number.
    o
        Tuples, and whether each is the last of its range.
    """

    def __init__(self, shape, *, lanes: int, places: int, most: int, ahead: int):
        self._lanes, self._ahead = lanes, ahead
        self._extent = extent(places, most)
        self._line = data.ArrayLayout(shape, lanes)
        super().__init__(
            {
                "i": In(stream.Signature(self._extent)),
                "memory": Out(request_response(range(max(1, places // lanes)), self._line)),
                "o": Out(stream.Signature(data.StructLayout({"tuple": shape, "last": 1}))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        bits = exact_log2(self._lanes)
        job = data.StructLayout({"offset": bits, "more": self._extent["count"].shape})
        m.submodules.jobs = jobs = FIFO(job, 4)
        m.submodules.lines = lines = FIFO(self._line, self._ahead)
        # Whoever takes tuples decides by their keys whether to: so they come out of a register, not out of a line.
        m.submodules.tuples = tuples = FIFO(self.o.p.shape(), 2)
        connect(m, tuples.o, flipped(self.o))

        # Ask. The next range is taken while the last line of the one before is asked for.
        asking = Signal()
        more = Signal.like(self.i.p.count)
        room = Signal(range(self._ahead + 1), init=self._ahead)
        asked = Signal()
        line_left = Signal()
        offset = self.i.p.first[:bits]
        m.d.comb += [
            self.memory.request.valid.eq(asking & (room != 0)),
            asked.eq(self.memory.request.valid & self.memory.request.ready),
            jobs.i.p.offset.eq(offset),
            jobs.i.p.more.eq(self.i.p.count - 1),
            jobs.i.valid.eq(self.i.valid & (~asking | (asked & (more == 0)))),
            self.i.ready.eq(jobs.i.ready & (~asking | (asked & (more == 0)))),
        ]
        m.d.sync += room.eq(room + line_left - asked)
        with m.If(asked):
            m.d.sync += [self.memory.request.p.eq(self.memory.request.p + 1), more.eq(more - 1), asking.eq(more != 0)]
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += [
                asking.eq(1),
                self.memory.request.p.eq(self.i.p.first >> bits),
                more.eq((offset + self.i.p.count - 1) >> bits),
            ]

        # Take the lines apart.
        m.d.comb += [lines.i.p.eq(self.memory.response.p), lines.i.valid.eq(self.memory.response.valid)]
        giving = Signal()
        lane = Signal(bits)
        left = Signal.like(more)
        given, ends = Signal(), Signal()
        m.d.comb += [
            tuples.i.valid.eq(giving & lines.o.valid),
            # A choice among lanes; an index into the line would shift all of it.
            tuples.i.p.tuple.eq(Array(lines.o.p[n].as_value() for n in range(self._lanes))[lane]),
            tuples.i.p.last.eq(left == 0),
            given.eq(tuples.i.valid & tuples.i.ready),
            ends.eq(given & tuples.i.p.last),
            line_left.eq(given & ((lane == self._lanes - 1) | tuples.i.p.last)),
            lines.o.ready.eq(line_left),
            jobs.o.ready.eq(~giving | ends),
        ]
        with m.If(given):
            m.d.sync += [lane.eq(lane + 1), left.eq(left - 1), giving.eq(~ends)]
        with m.If(jobs.o.valid & jobs.o.ready):
            m.d.sync += [giving.eq(1), lane.eq(jobs.o.p.offset), left.eq(jobs.o.p.more)]
        return m
