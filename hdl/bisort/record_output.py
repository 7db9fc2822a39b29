"""The output of records: they are the results, instead of the pairs that they stand for."""

from amaranth.hdl import Module
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.bisort.prober import record
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays


def record_result(arrays: SortedArrays) -> data.StructLayout:
    """A record, or with ``mark`` the end of a step.

    A record tells the payload of the tuple that probed, which stream it is of, the place of the first tuple that it
    matches, and how many there are from there on. The end of a step tells of which stream tuples were merged into the
    newest subwindow, how many, and at which place the merged array begins. Whoever has the tuples can keep a mirror of
    the arrays so, and look up what a record means. Its payload is 0.
    """
    return data.StructLayout(
        {
            "payload": arrays.layout.tuple["payload"].width,
            "of_s": 1,
            "first": range(arrays.places),
            "count": range(arrays.subwindow + 1),
            "mark": 1,
        }
    )


class RecordOutput(Part):
    """Gives records as they come, and the ends of steps between them.

    Parameters
    ----------
    arrays
        Layouts and sizes.

    Members
    -------
    of_s
        Whether those that probe are of S.
    i
        Records.
    end, place, count
        The step has ended, all of its records have left, and this is to be told: it is while ``end`` is up and ``o`` is
        ready.
    o
        Records and ends of steps.
    """

    def __init__(self, arrays: SortedArrays):
        self._arrays = arrays
        super().__init__(
            {
                "of_s": In(1),
                "i": In(stream.Signature(record(arrays))),
                "end": In(1),
                "place": In(range(arrays.places)),
                "count": In(range(arrays.half + 1)),
                "o": Out(stream.Signature(record_result(arrays))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [
            self.o.valid.eq(self.i.valid | self.end),
            self.i.ready.eq(self.o.ready & ~self.end),
            self.o.p.payload.eq(self.i.p.probe.payload),
            self.o.p.of_s.eq(self.of_s),
            self.o.p.first.eq(self.i.p.first),
            self.o.p.count.eq(self.i.p.count),
        ]
        with m.If(self.end):
            m.d.comb += [
                self.o.p.mark.eq(1),
                self.o.p.payload.eq(0),
                self.o.p.first.eq(self.place),
                self.o.p.count.eq(self.count),
            ]
        return m
