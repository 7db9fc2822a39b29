"""The expander: makes pairs of records, and keeps those that are due."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.bisort.prober import record
from streamjoin.hdl.bisort.range_reader import RangeReader
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.request import request_response


class Expander(Part):
    """Reads all tuples that a record names, one a cycle, and gives the pairs that the contract wants.

    A pair is due if the earlier of the two is in its window, by their numbers:
    :mod:`streamjoin.reference.models.bisort` says why that is enough. Conditions on time and on a second key are looked
    at here, too.

    Parameters
    ----------
    arrays
        Layouts and sizes.
    ahead
        Lines that are read ahead.

    Members
    -------
    of_s
        Whether those that probe are of S; stands still while the expander is busy.
    i
        Records.
    memory
        Lines of the main arrays.
    o
        Results.
    busy
        Something is inside.
    """

    def __init__(self, arrays: SortedArrays, *, ahead: int):
        self._arrays, self._ahead = arrays, ahead
        super().__init__(
            {
                "of_s": In(1),
                "i": In(stream.Signature(record(arrays))),
                "memory": Out(request_response(range(arrays.places // arrays.lanes), arrays.line)),
                "o": Out(arrays.layout.results),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        arrays, layout = self._arrays, self._arrays.layout
        distance = arrays.number_width
        candidate = data.StructLayout(
            {"probe": arrays.tuple, "stored": arrays.tuple, "back": distance, "ahead": distance}
        )
        m.submodules.probes = probes = FIFO(arrays.tuple, 8)
        m.submodules.candidates = candidates = FIFO(candidate, 2)
        m.submodules.results = results = FIFO(layout.result, 4)
        m.submodules.reader = reader = RangeReader(
            arrays.tuple, lanes=arrays.lanes, places=arrays.places, most=arrays.subwindow, ahead=self._ahead
        )
        connect(m, reader.memory, flipped(self.memory))
        connect(m, results.o, flipped(self.o))
        m.d.comb += [
            self.i.ready.eq(probes.i.ready & reader.i.ready),
            probes.i.valid.eq(self.i.valid & reader.i.ready),
            probes.i.p.eq(self.i.p.probe),
            reader.i.valid.eq(self.i.valid & probes.i.ready),
            reader.i.p.first.eq(self.i.p.first),
            reader.i.p.count.eq(self.i.p.count),
            candidates.i.valid.eq(reader.o.valid & probes.o.valid),
            candidates.i.p.probe.eq(probes.o.p),
            candidates.i.p.stored.eq(reader.o.p.tuple),
            candidates.i.p.back.eq(probes.o.p.others - reader.o.p.tuple.number - 1),
            candidates.i.p.ahead.eq(reader.o.p.tuple.others - probes.o.p.number - 1),
            reader.o.ready.eq(candidates.i.ready & probes.o.valid),
            probes.o.ready.eq(candidates.i.ready & reader.o.valid & reader.o.p.last),
            self.busy.eq(probes.busy | candidates.busy | results.busy),
        ]

        probe, stored = candidates.o.p.probe, candidates.o.p.stored
        r, s = Signal(arrays.tuple), Signal(arrays.tuple)
        m.d.comb += [
            r.eq(Mux(self.of_s, stored.as_value(), probe.as_value())),
            s.eq(Mux(self.of_s, probe.as_value(), stored.as_value())),
            candidates.o.ready.eq(results.i.ready),
            results.i.valid.eq(candidates.o.valid & self._is_due(candidates.o.p, r, s)),
            *layout.join(results.i.p, r, s),
        ]
        return m

    def _is_due(self, candidate, r, s):
        arrays = self._arrays
        of_r, of_s = arrays.windows
        earlier_is_stored = ~candidate.back[-1]
        due = Mux(
            earlier_is_stored,
            candidate.back < Mux(self.of_s, of_r, of_s),
            candidate.ahead < Mux(self.of_s, of_s, of_r),
        )
        decided = arrays.layout.spans is None and arrays.layout.predicate.ranges_decide
        return due if decided else due & arrays.layout.matches(r, s)
