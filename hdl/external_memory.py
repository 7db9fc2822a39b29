"""A memory behind a bus: what a memory outside the chip looks like from inside."""

from itertools import pairwise

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In

from streamjoin.hdl.line_memory import LineMemory, line_write
from streamjoin.hdl.part import Part
from streamjoin.hdl.service import service, tagged

#: Cycles: one for the bus, one for the memory.
LEAST_LATENCY = 2


class ExternalMemory(Part):
    """A :class:`LineMemory` all of whose ports share one bus of limited bandwidth, and which takes its time to answer.

    The bus moves a line in a cycle, to the memory or from it, if its bandwidth allows: each line takes its bytes from a
    budget that grows by ``bandwidth`` bytes a cycle. Ports that want a line take turns. A line that is asked for comes
    ``latency`` cycles after its turn; one that is written is there at once.

    Parameters
    ----------
    line, lines, clients
        As in :class:`LineMemory`, with two ports to read.
    latency
        Cycles from a question to its answer, from 2 up.
    bandwidth
        Bytes a cycle.

    Members
    -------
    i, read0, read1
        As in :class:`LineMemory`; a port is ready when it has its turn.
    """

    def __init__(self, line, lines: int, clients: tuple[int, int], *, latency: int, bandwidth: int):
        if latency < LEAST_LATENCY:
            raise ValueError(f"a memory behind a bus takes at least {LEAST_LATENCY} cycles to answer, not {latency}")
        self._line, self._lines, self._clients = line, lines, clients
        self._latency, self._bandwidth = latency, bandwidth
        reads = {
            f"read{n}": In(service(tagged(range(lines), number), tagged(line, number)))
            for n, number in enumerate(clients)
        }
        super().__init__({"i": In(stream.Signature(line_write(line, lines))), **reads})

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = LineMemory(self._line, self._lines, self._clients)
        cost = -(-self._line.size // 8)
        # Never more than a line and a cycle's worth is saved up.
        budget = Signal(range(cost + self._bandwidth + 1))
        affordable = budget >= cost
        ports = [self.i, self.read0.ask, self.read1.ask]
        turn = Signal(range(3))
        granted = Signal(3)
        for first in range(3):
            with m.If(affordable & (turn == first)):
                for n in reversed([(first + step) % 3 for step in range(3)]):
                    with m.If(ports[n].valid):
                        m.d.comb += granted.eq(1 << n)
        left = Mux(granted.any(), budget - cost, budget)
        m.d.sync += budget.eq(Mux(left > cost, cost, left) + self._bandwidth)
        for n, port in enumerate(ports):
            m.d.comb += port.ready.eq(granted[n])
            with m.If(granted[n]):
                m.d.sync += turn.eq((n + 1) % 3)

        m.d.comb += [memory.i.valid.eq(granted[0]), memory.i.p.eq(self.i.p)]
        for n, port in enumerate((self.read0, self.read1)):
            inner = getattr(memory, f"read{n}")
            question = data.StructLayout({"ask": port.ask.p.shape(), "valid": 1})
            stages = [Signal(question, name=f"under_way{n}_{stage}") for stage in range(self._latency - 1)]
            m.d.sync += [
                stages[0].ask.eq(port.ask.p),
                stages[0].valid.eq(granted[n + 1]),
                *(late.eq(early) for early, late in pairwise(stages)),
            ]
            m.d.comb += [
                inner.ask.valid.eq(stages[-1].valid),
                inner.ask.p.eq(stages[-1].ask),
                port.answer.valid.eq(inner.answer.valid),
                port.answer.p.eq(inner.answer.p),
            ]
        return m
