"""The store of sorted batches, double-buffered: one half is processed while the next batches fill the other."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import memory, stream
from amaranth.lib.wiring import In, Out
from amaranth.utils import exact_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.hdl.bisort.sorter import batch_item
from streamjoin.hdl.lib.ram import NEVER_COLLIDES
from streamjoin.hdl.lib.request import request_response, tagged


class BatchStore(Part):
    """A memory of two halves for each stream: one is filled while the other one is processed.

    It takes a tuple a cycle of each stream, and the ends of batches, until both halves are full.

    Parameters
    ----------
    arrays
        Layouts and sizes.
    inserting, probing
        How many clients share each of the two ports to read.

    Members
    -------
    i_r, i_s
        Sorted batches.
    ready
        A batch of both streams is there.
    first, count_r, count_s
        Where it lies in both memories, and how many tuples it has.
    release
        It has been processed.
    of_s
        Which of the memories is read.
    insert, probe
        The read ports: requests are always taken, with a response in the next cycle.
    busy
        Something is inside.
    """

    def __init__(self, arrays: SortedArrays, *, inserting: int, probing: int):
        self._arrays = arrays
        lines = range(2 * arrays.half // arrays.lanes)
        batches = stream.Signature(batch_item(arrays.tuple))
        count = range(arrays.half + 1)

        def port(clients):
            return In(request_response(tagged(lines, clients), tagged(arrays.line, clients)))

        super().__init__(
            {
                "i_r": In(batches),
                "i_s": In(batches),
                "ready": Out(1),
                "first": Out(range(2 * arrays.half)),
                "count_r": Out(count),
                "count_s": Out(count),
                "release": In(1),
                "of_s": In(1),
                "insert": port(inserting),
                "probe": port(probing),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        arrays = self._arrays
        half = Signal()  # which is processed
        full = {side: Signal(2, name=f"full_{side}") for side in "rs"}
        filling = {}
        reads = {}
        for side, batches, count in (("r", self.i_r, self.count_r), ("s", self.i_s, self.count_s)):
            # A memory for each lane: not every family has block RAM that writes a part of a line.
            lanes = [
                memory.Memory(shape=arrays.tuple, depth=2 * arrays.half // arrays.lanes, init=[], attrs=NEVER_COLLIDES)
                for _ in range(arrays.lanes)
            ]
            for lane, tuples in enumerate(lanes):
                m.submodules[f"memory_{side}{lane}"] = tuples
            reads[side] = [[tuples.read_port() for tuples in lanes] for _ in (self.insert, self.probe)]
            writes = [tuples.write_port() for tuples in lanes]
            filling[side] = self._fill(m, side, batches, count, writes, full[side], half)
        m.d.comb += [
            self.ready.eq(full["r"].bit_select(half, 1) & full["s"].bit_select(half, 1)),
            self.first.eq(half * arrays.half),
            self.busy.eq(Cat(*full.values(), *filling.values()).any()),
        ]
        with m.If(self.release):
            m.d.sync += half.eq(~half)
        for n, port in enumerate((self.insert, self.probe)):
            of_r, of_s = reads["r"][n], reads["s"][n]
            asked = Signal(name=f"asked{n}")
            client = Signal.like(port.request.p.client, name=f"client{n}", reset_less=True)
            m.d.sync += [asked.eq(port.request.valid), client.eq(port.request.p.client)]
            m.d.comb += [
                port.request.ready.eq(1),
                *(read.addr.eq(port.request.p.what) for read in (*of_r, *of_s)),
                port.response.valid.eq(asked),
                port.response.p.client.eq(client),
                port.response.p.what.eq(Mux(self.of_s, *(Cat(read.data for read in lanes) for lanes in (of_s, of_r)))),
            ]
        return m

    def _fill(self, m, side, batches, count, writes, full, half):
        """Write one stream's tuples; returns whether a half is filled in part."""
        arrays = self._arrays
        lanes = exact_log2(arrays.lanes)
        into = Signal(name=f"into_{side}")
        place = Signal(range(arrays.half + 1), name=f"place_{side}")
        counts = [Signal.like(count, name=f"count_{side}{n}") for n in (0, 1)]
        taken = Signal(name=f"taken_{side}")
        m.d.comb += [
            batches.ready.eq(~full.bit_select(into, 1)),
            taken.eq(batches.valid & batches.ready),
            count.eq(Mux(half, counts[1], counts[0])),
        ]
        for lane, write in enumerate(writes):
            m.d.comb += [
                write.addr.eq(Cat(place[lanes : exact_log2(arrays.half)], into)),
                write.en.eq(taken & ~batches.p.end & (place[:lanes] == lane)),
                write.data.eq(batches.p.tuple),
            ]
        for n in (0, 1):
            with m.If(taken & batches.p.end & (into == n)):
                m.d.sync += [full[n].eq(1), counts[n].eq(place)]
            with m.If(self.release & (half == n)):
                m.d.sync += full[n].eq(0)
        with m.If(taken):
            m.d.sync += [place.eq(Mux(batches.p.end, 0, place + 1)), into.eq(into ^ batches.p.end)]
        return place != 0
