"""The probing engine: probers side by side that take a batch through all subwindows of the other stream."""

from amaranth.hdl import Module, Mux, ResetSignal, ShapeLike, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.bisort.expander import Expander
from streamjoin.hdl.bisort.index_array import CYCLES_A_STEP, search
from streamjoin.hdl.bisort.prober import Prober, record
from streamjoin.hdl.bisort.range_reader import RangeReader
from streamjoin.hdl.bisort.record_output import RecordOutput, record_result
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.hdl.lib.merging_tree import MergingTree
from streamjoin.hdl.lib.request import RequestArbiter, request_response, tagged
from streamjoin.hdl.lib.shift_add import shift_add


class ProbingEngine(Part):
    """Probes the subwindows of a stream, one after the other, with a batch of the other, and gives pairs.

    The batch is cut into as many parts as there are probers. A pass takes each prober's part through one array for one
    range of the predicate; the next begins when all probers are through. Records are expanded while they go on, or are
    the result themselves.

    Parameters
    ----------
    arrays
        Layouts and sizes.
    probers
        How many, a power of two.
    ahead
        Lines that each reads ahead.
    expand
        Whether to give pairs, or records.

    Members
    -------
    start
        Begin to probe; what follows stands still until the engine is no longer busy.
    of_s, batch, count
        Whether the batch is of S, where it lies, and how many tuples it has.
    slot, array
        The engine looks at the subwindows in their slots, from 0 up: which array is there, in the next cycle.
    batches, index, main
        The memory of batches, searches in the index, the memory of main arrays.
    place
        Where the batch is being merged into its own stream's array: what the end of a step tells.
    o_result
        Pairs that are due, or records.
    busy
        Not all pairs have left.
    """

    def __init__(self, arrays: SortedArrays, *, probers: int, ahead: int, expand: bool = True):
        self._arrays, self._probers, self._ahead, self._expand = arrays, probers, ahead, expand
        self._lines = range(arrays.places // arrays.lanes)
        self._batch_lines = range(2 * arrays.half // arrays.lanes)
        self.clients = {"batches": probers, "index": 2 * probers, "main": 2 * probers + expand}
        self._shapes: dict[str, tuple[ShapeLike, ShapeLike]] = {
            "batches": (self._batch_lines, arrays.line),
            "index": (search(arrays), arrays.partition_number),
            "main": (self._lines, arrays.line),
        }
        requests = {
            name: Out(request_response(*(tagged(shape, clients) for shape in self._shapes[name])))
            for name, clients in self.clients.items()
        }
        super().__init__(
            {
                "start": In(1),
                "of_s": In(1),
                "batch": In(range(2 * arrays.half)),
                "count": In(range(arrays.half + 1)),
                "slot": Out(range(max(arrays.chains))),
                "array": In(arrays.array),
                **requests,
                "place": In(range(arrays.places)),
                "o_result": Out(arrays.layout.results if expand else stream.Signature(record_result(arrays))),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        arbiters = {name: RequestArbiter(*self._shapes[name], number) for name, number in self.clients.items()}
        for name, arbiter in arbiters.items():
            m.submodules[name] = arbiter
            connect(m, arbiter.server, flipped(getattr(self, name)))
        m.submodules.records = records = MergingTree(record(self._arrays), self._probers, depth=2)
        m.d.comb += records.clear.eq(ResetSignal().replicate(len(records.clear)))
        out, expands = self._give(m, records, arbiters["main"])
        array = Signal(self._arrays.array)
        nth, begins, passing = self._sequence(m, array, ~records.busy.any() & ~expands, out)
        share = Signal.like(self.count)
        m.d.sync += share.eq((self.count + self._probers - 1) >> exact_log2(self._probers))
        for n in range(self._probers):
            prober = self._prober(m, n, arbiters, share, begins, passing[n])
            connect(m, prober.o, records.i[n])
            m.d.comb += [
                prober.array.eq(array),
                prober.first.eq(begins),
                prober.of_s.eq(self.of_s),
                prober.range.eq(nth),
            ]
        return m

    def _give(self, m, records, main):
        """Records become pairs, or the result themselves; returns what does that, and whether it has any left."""
        if self._expand:
            m.submodules.out = out = Expander(self._arrays, ahead=self._ahead)
            connect(m, out.memory, main.clients[-1])
            expands = out.busy
        else:
            m.submodules.out = out = RecordOutput(self._arrays)
            m.d.comb += [out.place.eq(self.place), out.count.eq(self.count)]
            expands = records.o.valid
        connect(m, records.o, out.i)
        connect(m, out.o, flipped(self.o_result))
        m.d.comb += out.of_s.eq(self.of_s)
        return out, expands

    def _sequence(self, m, array, empty, out):
        """One pass after the other, through all ranges for each array; then wait for all records to have left.

        Returns the number of the range, whether a pass begins, and a bit for each prober that is still at it.
        """
        ranges = len(self._arrays.key_ranges)
        nth = Signal(range(ranges))
        begins = Signal()
        passing = Signal(self._probers)
        last_slot = Mux(self.of_s, self._arrays.chains[0] - 1, self._arrays.chains[1] - 1)
        m.d.comb += self.busy.eq(1)
        with m.FSM():
            with m.State("IDLE"):
                m.d.comb += self.busy.eq(0)
                m.d.sync += self.slot.eq(0)
                with m.If(self.start):
                    m.next = "FIND"
            with m.State("FIND"):
                m.next = "LOOK"
            with m.State("LOOK"):
                m.d.sync += [array.eq(self.array), nth.eq(0)]
                m.next = "BEGIN"
                with m.If(self.array.count == 0):
                    m.next = "NEXT"
            with m.State("BEGIN"):
                m.d.comb += begins.eq(1)
                m.next = "ASK"
            with m.State("ASK"):
                m.next = "PASS"
            with m.State("PASS"):
                with m.If(passing == 0):
                    m.d.sync += nth.eq(nth + 1)
                    m.next = "BEGIN"
                    with m.If(nth == ranges - 1):
                        m.next = "NEXT"
            with m.State("NEXT"):
                m.d.sync += self.slot.eq(self.slot + 1)
                m.next = "FIND"
                with m.If(self.slot == last_slot):
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                with m.If(empty):
                    m.next = "IDLE" if self._expand else "TELL"
            if not self._expand:
                with m.State("TELL"):
                    m.d.comb += out.end.eq(1)
                    with m.If(out.o.ready):
                        m.next = "IDLE"
        return nth, begins, passing

    def _prober(self, m, n: int, arbiters, share, begins, passing) -> Prober:
        """The n-th prober, and what reads its part of the batch for each pass."""
        arrays = self._arrays
        m.submodules[f"prober{n}"] = prober = Prober(arrays, ahead=self._ahead, waiting=self._waiting)
        m.submodules[f"part{n}"] = reader = RangeReader(
            arrays.tuple, lanes=arrays.lanes, places=2 * arrays.half, most=arrays.half, ahead=self._ahead
        )
        connect(m, reader.memory, arbiters["batches"].clients[n])
        for bound in (0, 1):
            connect(m, prober.index[bound], arbiters["index"].clients[2 * n + bound])
            connect(m, prober.memory[bound], arbiters["main"].clients[2 * n + bound])
        begin = Signal(range(2 * arrays.half + 1), name=f"begin{n}")
        length = Signal.like(self.count, name=f"length{n}")
        left = Signal.like(self.count, name=f"left{n}")
        asks = Signal(name=f"asks{n}")
        m.d.sync += [
            begin.eq(shift_add(share, n)),
            length.eq(Mux(begin >= self.count, 0, Mux(begin + share > self.count, self.count - begin, share))),
        ]
        m.d.comb += [
            prober.i.valid.eq(reader.o.valid),
            prober.i.p.eq(reader.o.p.tuple),
            reader.o.ready.eq(prober.i.ready),
            reader.i.valid.eq(asks),
            reader.i.p.first.eq(self.batch + begin),
            reader.i.p.count.eq(length),
            passing.eq((left != 0) | prober.busy),
        ]
        with m.If(begins):
            m.d.sync += [asks.eq(length != 0), left.eq(length)]
        with m.Else():
            with m.If(reader.i.ready):
                m.d.sync += asks.eq(0)
            m.d.sync += left.eq(left - prober.probed)
        return prober

    @property
    def _waiting(self) -> int:
        """Bounds that wait for the index: as many as it takes to find one, so that none waits for another."""
        return CYCLES_A_STEP * exact_log2(self._arrays.partitions) + 2 * self._probers + 4
