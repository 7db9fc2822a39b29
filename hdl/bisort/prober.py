"""A prober: for each tuple of a batch, which tuples of a main array are within its bounds."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.bisort.index_array import search
from streamjoin.hdl.bisort.range_reader import RangeReader, extent
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.request import request_response


def record(arrays: SortedArrays) -> data.StructLayout:
    """The tuple that probes, the place of the first tuple that it matches, and how many there are."""
    return data.StructLayout(
        {"probe": arrays.tuple, "first": range(arrays.places), "count": range(arrays.subwindow + 1)}
    )


class PartitionScanner(Part):
    """For each bound, how many tuples of a sorted array are below it.

    Bounds must not decrease from one to the next within an array. The index says in which partition to look. Each
    partition that is asked for is read once, whole, ahead of time, however many bounds fall into it; then it is like
    merging: if the tuple at hand is below the bound at hand, on to the next tuple, otherwise the number of tuples
    before it is what was looked for, and on to the next bound. So a cycle for each bound, one for each tuple of each
    partition in which a bound falls, and one more for each such partition; and none for what lies between two bounds.

    What is left of the last partition is thrown away when the first bound of the next array comes.

    Parameters
    ----------
    arrays
        Layouts and sizes.
    ahead
        Lines that are read ahead.
    waiting
        Bounds that may wait for the index.

    Members
    -------
    array
        Which array; stands still from the first bound to the last rank.
    first
        Up before the first bound of an array comes.
    index, memory
        Searches in the index, and lines of the main arrays.
    i, o
        Bounds, and their ranks.
    """

    def __init__(self, arrays: SortedArrays, *, ahead: int, waiting: int):
        self._arrays, self._ahead, self._waiting = arrays, ahead, waiting
        self._rank = range(arrays.subwindow + 1)
        super().__init__(
            {
                "array": In(arrays.array),
                "first": In(1),
                "index": Out(request_response(search(arrays), arrays.partition_number)),
                "memory": Out(request_response(range(arrays.places // arrays.lanes), arrays.line)),
                "i": In(stream.Signature(arrays.bound)),
                "o": Out(stream.Signature(self._rank)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        arrays = self._arrays
        number = arrays.partition_number
        job = data.StructLayout({"bound": arrays.bound, "partition": number, "fresh": 1})
        m.submodules.bounds = bounds = FIFO(arrays.bound, self._waiting)
        m.submodules.partitions = partitions = FIFO(number, self._waiting + 1)
        m.submodules.jobs = jobs = FIFO(job, 4)
        m.submodules.ranks = ranks = FIFO(self._rank, 2)
        m.submodules.reader = reader = RangeReader(
            arrays.tuple, lanes=arrays.lanes, places=arrays.places, most=arrays.partition, ahead=self._ahead
        )
        connect(m, reader.memory, flipped(self.memory))
        connect(m, ranks.o, flipped(self.o))

        self._ask_index(m, bounds.i, partitions.i)
        # What is to be read waits in a queue of its own: the reader may be unable to take it until the rest of an
        # earlier partition has been thrown away, and for that the job must have gone on.
        m.submodules.extents = extents = FIFO(extent(arrays.places, arrays.partition), 4)
        connect(m, extents.o, reader.i)
        self._fetch_once(m, bounds.o, partitions.o, extents.i, jobs.i)
        self._scan(m, jobs.o, reader.o, ranks.i)
        return m

    def _ask_index(self, m, bounds, partitions):
        """Bounds wait for the number of their partition. There is room for a response where there was for its bound."""
        last = Signal(self._arrays.partition_number)
        m.d.sync += last.eq((self.array.count - 1) >> self._arrays.partition_bits)
        m.d.comb += [
            self.i.ready.eq(self.index.request.ready & bounds.ready),
            self.index.request.valid.eq(self.i.valid & bounds.ready),
            self.index.request.p.region.eq(self.array.region),
            self.index.request.p.last.eq(last),
            self.index.request.p.bound.eq(self.i.p),
            bounds.valid.eq(self.i.valid & self.index.request.ready),
            bounds.p.eq(self.i.p),
            partitions.valid.eq(self.index.response.valid),
            partitions.p.eq(self.index.response.p),
        ]

    def _fetch_once(self, m, bounds, partitions, extents, jobs):
        """A job for each bound; its partition is read if it is not that of the bound before."""
        arrays = self._arrays
        fetched = Signal(arrays.partition_number)
        any_fetched = Signal()
        both, fresh, goes = Signal(), Signal(), Signal()
        begin = partitions.p << arrays.partition_bits
        rest = self.array.count - begin
        m.d.comb += [
            both.eq(bounds.valid & partitions.valid),
            fresh.eq(~any_fetched | (fetched != partitions.p)),
            goes.eq(both & jobs.ready & (extents.ready | ~fresh)),
            extents.valid.eq(both & fresh & jobs.ready),
            extents.p.first.eq((self.array.region * arrays.subwindow) | begin),
            extents.p.count.eq(Mux(rest < arrays.partition, rest, arrays.partition)),
            jobs.valid.eq(goes),
            jobs.p.bound.eq(bounds.p),
            jobs.p.partition.eq(partitions.p),
            jobs.p.fresh.eq(fresh),
            bounds.ready.eq(goes),
            partitions.ready.eq(goes),
        ]
        with m.If(goes):
            m.d.sync += [fetched.eq(partitions.p), any_fetched.eq(1)]
        with m.If(self.first):
            m.d.sync += any_fetched.eq(0)

    def _scan(self, m, jobs, tuples, ranks):
        """Go along tuples and bounds, whichever is behind."""
        over = Signal(init=1)  # the partition at hand has been read to its end
        entered = Signal()  # it is the one that the bound at hand falls into
        rank = Signal(self._rank)
        below = Signal()
        m.d.comb += [
            below.eq(tuples.p.tuple.key < jobs.p.bound),
            ranks.p.eq(rank),
            jobs.ready.eq(ranks.valid & ranks.ready),
        ]
        consumed = tuples.valid & tuples.ready
        with m.If(jobs.valid):
            with m.If(jobs.p.fresh & ~entered):
                m.d.comb += tuples.ready.eq(~over)
                with m.If(over):
                    m.d.sync += [
                        entered.eq(1),
                        over.eq(0),
                        rank.eq(jobs.p.partition << self._arrays.partition_bits),
                    ]
            with m.Else():
                m.d.comb += [
                    tuples.ready.eq(~over & below),
                    ranks.valid.eq(over | (tuples.valid & ~below)),
                ]
                with m.If(consumed):
                    m.d.sync += rank.eq(rank + 1)
        with m.If(consumed & tuples.p.last):
            m.d.sync += over.eq(1)
        with m.If(jobs.ready):
            m.d.sync += entered.eq(0)


class Prober(Part):
    """Turns tuples that probe into records: one scanner for their lower bounds and one for their upper ones.

    Each range of keys that the predicate names is a pass of its own over the batch.

    Parameters
    ----------
    arrays
        Layouts and sizes.
    ahead, waiting
        As in :class:`PartitionScanner`.

    Members
    -------
    array, first
        As in :class:`PartitionScanner`.
    of_s, range
        Whether those that probe are of S; which of the ranges of the predicate to look for.
    index, memory
        For the lower bounds and for the upper ones.
    i
        Tuples, by increasing key.
    o
        Records, without those that have no match.
    probed, busy
        A tuple has been probed, with a match or without; a record waits to be taken.
    """

    def __init__(self, arrays: SortedArrays, *, ahead: int, waiting: int):
        self._arrays, self._waiting = arrays, waiting
        self._scanner = lambda: PartitionScanner(arrays, ahead=ahead, waiting=waiting)
        super().__init__(
            {
                "array": In(arrays.array),
                "first": In(1),
                "of_s": In(1),
                "range": In(max(1, ceil_log2(len(arrays.key_ranges)))),
                "index": Out(request_response(search(arrays), arrays.partition_number)).array(2),
                "memory": Out(request_response(range(arrays.places // arrays.lanes), arrays.line)).array(2),
                "i": In(stream.Signature(arrays.tuple)),
                "o": Out(stream.Signature(record(arrays))),
                "probed": Out(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        arrays = self._arrays
        bounded = data.StructLayout({"tuple": arrays.tuple, "lower": arrays.bound, "upper": arrays.bound})
        m.submodules.bounded = bounded = FIFO(bounded, 2)
        # Two more than wait for the index: those that are being scanned need a place, too.
        m.submodules.tuples = tuples = FIFO(arrays.tuple, self._waiting + 8)
        m.submodules.lower = lower = self._scanner()
        m.submodules.upper = upper = self._scanner()
        m.d.comb += [
            bounded.i.valid.eq(self.i.valid),
            self.i.ready.eq(bounded.i.ready),
            bounded.i.p.tuple.eq(self.i.p),
        ]
        self._find_bounds(m, bounded.i.p)

        # Three ways for each tuple, which begin together and meet again. Each begins with a queue: the scanners' turns
        # to ask the index come one after the other, and never together.
        ways = [(tuples.i, bounded.o.p.tuple)]
        for name, scanner in (("lower", lower), ("upper", upper)):
            m.submodules[f"to_{name}"] = entrance = FIFO(arrays.bound, 2)
            connect(m, entrance.o, scanner.i)
            ways.append((entrance.i, bounded.o.p[name]))
        for way, what in ways:
            others = [other.ready for other, _ in ways if other is not way]
            m.d.comb += [way.valid.eq(bounded.o.valid & others[0] & others[1]), way.p.eq(what)]
        m.d.comb += bounded.o.ready.eq(Cat(way.ready for way, _ in ways).all())

        m.submodules.records = records = FIFO(record(arrays), 2)
        connect(m, records.o, flipped(self.o))
        met = tuples.o.valid & lower.o.valid & upper.o.valid
        m.d.comb += [
            self.busy.eq(records.busy),
            self.probed.eq(met & records.i.ready),
            records.i.valid.eq(met & (lower.o.p != upper.o.p)),
            records.i.p.probe.eq(tuples.o.p),
            records.i.p.first.eq(self.array.region * arrays.subwindow + lower.o.p),
            records.i.p.count.eq(upper.o.p - lower.o.p),
            *(port.ready.eq(self.probed) for port in (tuples.o, lower.o, upper.o)),
        ]
        for n, scanner in enumerate((lower, upper)):
            m.d.comb += [scanner.array.eq(self.array), scanner.first.eq(self.first)]
            connect(m, scanner.index, flipped(self.index[n]))
            connect(m, scanner.memory, flipped(self.memory[n]))
        return m

    def _find_bounds(self, m, bounded):
        """The boundary generator: which keys match, from the lower bound up to below the upper one."""
        key = bounded.tuple.key
        top = 1 << (self._arrays.bound - 1)

        def offset(value, otherwise):
            """A key and this much; what lies below zero or above all keys is cut off."""
            if value is None:
                return otherwise
            value = max(-top, min(top, value))
            total = key + value
            if value < 0:
                return Mux(total < 0, 0, total)
            return Mux(total > top, top, total) if value > 1 else total

        ranges = self._arrays.key_ranges
        # r - s lies in low .. high: so r in what follows s by as much, and s in what r follows.
        looks = {0: [(_negative(high), _negative(low)) for low, high in ranges], 1: ranges}
        with m.Switch(Cat(self.range, self.of_s)):
            for of_s, offsets in looks.items():
                for n, (low, high) in enumerate(offsets):
                    with m.Case(of_s << len(self.range) | n):
                        m.d.comb += [
                            bounded.lower.eq(offset(low, 0)),
                            bounded.upper.eq(offset(None if high is None else high + 1, top)),
                        ]


def _negative(value: int | None) -> int | None:
    return None if value is None else -value
