"""BI-Sort: chained subwindows, each a sorted array with an index (Pan and Jacobsen 2018)."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream
from amaranth.lib.wiring import Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import connect_gate, join_ports
from streamjoin.hdl.bisort.batch_collector import BatchCollector
from streamjoin.hdl.bisort.batch_store import BatchStore
from streamjoin.hdl.bisort.index_array import IndexArray
from streamjoin.hdl.bisort.insertion_engine import InsertionEngine
from streamjoin.hdl.bisort.parameters import BisortParameters
from streamjoin.hdl.bisort.probing_engine import ProbingEngine
from streamjoin.hdl.bisort.record_output import record_result
from streamjoin.hdl.bisort.subwindow_chain import SubwindowChain
from streamjoin.hdl.lib.external_memory import ExternalMemory
from streamjoin.hdl.lib.line_memory import LineMemory


class BisortJoin(Part):
    """Batches of both streams, sorted; main arrays, sorted; inserting is merging, and probing is looking up ranges.

    Why it is exact: :mod:`streamjoin.reference.models.bisort`. A batch of R and S that came in the same time is
    processed in two steps. First R's tuples look up their ranges in all subwindows of S, while they are merged into
    the newest subwindow of R; then S's do so in R, where those of R now are. Merging writes a region that nobody reads,
    so both go on at once; when both are done, the merged array takes the place of the old one, whose region is the next
    to be merged into. Batches are collected and sorted meanwhile.

    Why it cannot deadlock. Results leave the expander, records wait for the expander, probers for the place of a
    record; mergers wait for memory alone, and memory never waits: whoever asks has room for the answer. So with an
    output that keeps taking results a batch comes to its end, and then the next one may follow.

    Cost. With n tuples of a stream in a batch, m in its newest subwindow and K subwindows of the other, a step takes
    the longer of (m + n) / mergers cycles for merging, a few steps of searching where to begin, and probing: for each
    subwindow and each range of the predicate n / probers cycles, and one for each tuple of a partition in which a bound
    falls, shared by all probers; and besides, one for each tuple that lies in a range, due or not.

    Members
    -------
    i_r, i_s
        Tuples in; both are ready in the same cycles.
    o_result
        Results, in no particular order; or records (:func:`streamjoin.hdl.bisort.record_output.record_result`).
    drain, drained, halted, discarding, dropped, overflows
        As in :class:`streamjoin.hdl.lib.input_gate.InputGate`.
    """

    def __init__(self, parameters: BisortParameters):
        self._parameters = parameters
        ports = join_ports(parameters.layout)
        if parameters.gives_records:
            ports["o_result"] = Out(stream.Signature(record_result(parameters.arrays)))
        super().__init__(ports)

    def elaborate(self, platform):
        m = Module()
        p, arrays = self._parameters, self._parameters.arrays
        m.submodules.inserting = inserting = InsertionEngine(arrays, mergers=p.mergers, ahead=p.ahead)
        m.submodules.probing = probing = ProbingEngine(
            arrays, probers=p.probers, ahead=p.ahead, expand=not p.gives_records
        )
        m.submodules.collector = collector = BatchCollector(arrays, patience=p.collect, on_full=p.on_full)
        m.submodules.batches = batches = BatchStore(arrays, inserting=p.mergers, probing=probing.clients["batches"])
        m.submodules.memory = memory = self._memory((p.mergers, probing.clients["main"]))
        m.submodules.index = index = IndexArray(arrays, probing.clients["index"])
        chains = [SubwindowChain(arrays, stream) for stream in (0, 1)]
        m.submodules.chain_r, m.submodules.chain_s = chains

        connect_gate(m, self, collector, p.layout)
        connect(m, collector.o_r, batches.i_r)
        connect(m, collector.o_s, batches.i_s)
        connect(m, inserting.main, memory.read0)
        connect(m, inserting.batch, batches.insert)
        connect(m, inserting.o, memory.i)
        connect(m, probing.main, memory.read1)
        connect(m, probing.batches, batches.probe)
        connect(m, probing.index, index.searches)
        connect(m, probing.o_result, flipped(self.o_result))
        m.d.comb += [
            index.write.eq(inserting.o.valid & inserting.o.ready),
            index.line.eq(inserting.o.p.number),
            index.key.eq(inserting.o.p.line[0].key),
        ]
        self._take_steps(m, batches, chains, inserting, probing, collector)
        return m

    def _memory(self, clients):
        p, arrays = self._parameters, self._parameters.arrays
        sizes = arrays.line, arrays.places // arrays.lanes, clients
        if p.bandwidth is None:
            return LineMemory(*sizes)
        return ExternalMemory(*sizes, latency=p.latency, bandwidth=p.bandwidth)

    def _take_steps(self, m, batches, chains, inserting, probing, collector):
        """R's step and S's step for each batch."""
        arrays = self._parameters.arrays
        of_s = Signal()
        spare = Signal(arrays.array["region"].shape, init=arrays.regions - 1)
        count = Signal.like(batches.count_r)
        newest = Signal(arrays.array)
        full = Signal()
        starts, commits, advances = Signal(), Signal(), Signal()
        m.d.comb += [
            count.eq(Mux(of_s, batches.count_s, batches.count_r)),
            newest.eq(Mux(of_s, chains[1].newest.as_value(), chains[0].newest.as_value())),
            full.eq(Mux(of_s, chains[1].full, chains[0].full)),
            batches.of_s.eq(of_s),
            collector.moving.eq(batches.busy | probing.busy),
            inserting.start.eq(starts),
            probing.start.eq(starts),
            probing.of_s.eq(of_s),
            probing.batch.eq(batches.first),
            probing.count.eq(count),
            probing.place.eq(inserting.job.into),
            probing.array.eq(Mux(of_s, chains[0].array.as_value(), chains[1].array.as_value())),
        ]
        for n, chain in enumerate(chains):
            mine = of_s == n
            m.d.comb += [
                chain.slot.eq(probing.slot),
                chain.advance.eq(advances & mine),
                chain.commit.eq(commits & mine),
                chain.region.eq(spare),
                chain.fresh.eq(count),
            ]
        job = inserting.job
        m.d.sync += [
            job.main.eq(newest.region * arrays.subwindow),
            job.mains.eq(newest.count),
            job.batch.eq(batches.first),
            job.fresh.eq(count),
            job.into.eq(spare * arrays.subwindow),
        ]
        with m.FSM():
            with m.State("WAIT"):
                with m.If(batches.ready):
                    m.next = "PREPARE"
            with m.State("PREPARE"):
                m.next = "READY"
                with m.If(count == 0):
                    m.next = "NEXT"
                with m.Elif(full):
                    m.d.comb += advances.eq(1)
                    m.next = "PREPARE"
            with m.State("READY"):
                m.next = "START"
            with m.State("START"):
                m.d.comb += starts.eq(1)
                m.next = "STARTED"
            with m.State("STARTED"):
                m.next = "RUN"
            with m.State("RUN"):
                with m.If(~inserting.busy & ~probing.busy):
                    m.d.comb += commits.eq(1)
                    m.d.sync += spare.eq(newest.region)
                    m.next = "NEXT"
            with m.State("NEXT"):
                m.d.sync += of_s.eq(~of_s)
                m.next = "PREPARE"
                with m.If(of_s):
                    m.d.comb += batches.release.eq(1)
                    m.next = "RELEASE"
            with m.State("RELEASE"):
                m.next = "WAIT"
