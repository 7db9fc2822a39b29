"""A memory behind a bus: what a memory outside the chip looks like from inside."""

from itertools import pairwise

from amaranth.hdl import ClockSignal, Instance, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.line_memory import line_write
from streamjoin.hdl.lib.request import request_response, tagged

#: Cycles: one for the bus, one for the memory.
LEAST_LATENCY = 2

#: What stands for the memory itself: a module that is none of ours on a board, and this in simulations.
MODELS = {
    "external_lines": """
// A memory outside the chip, for simulations: on a board, a controller with these ports takes its place.
module external_lines #(parameter WIDTH = 8, parameter LINES = 2, parameter ADDRESS = 1)
  (clk, write, into, data, from0, line0, from1, line1);
  input clk, write;
  input [ADDRESS-1:0] into, from0, from1;
  input [WIDTH-1:0] data;
  output reg [WIDTH-1:0] line0, line1;
  reg [WIDTH-1:0] content [0:LINES-1];
  always @(posedge clk) begin
    if (write) content[into] <= data;
    line0 <= content[from0];
    line1 <= content[from1];
  end
endmodule
"""
}


class ExternalMemory(Part):
    """As :class:`LineMemory`, but its ports share one bus of limited bandwidth, and it takes its time to answer.

    Each line that goes to the memory or comes from it takes its bytes from a budget that grows by ``bandwidth`` bytes a
    cycle; as many ports as it suffices for have a line moved in a cycle, and those that have to wait come first in the
    next. A line that is asked for comes ``latency`` cycles later; one that is written is there at once.

    Parameters
    ----------
    line, lines, clients
        As in :class:`LineMemory`, with two ports to read.
    latency
        Cycles from a request to its response, from 2 up.
    bandwidth
        Bytes a cycle.

    Members
    -------
    i, read0, read1
        As in :class:`LineMemory`; a port is ready when its line is moved.
    """

    def __init__(self, line, lines: int, clients: tuple[int, int], *, latency: int, bandwidth: int):
        if latency < LEAST_LATENCY:
            raise ValueError(f"a memory behind a bus takes at least {LEAST_LATENCY} cycles to answer, not {latency}")
        self._line, self._lines, self._clients = line, lines, clients
        self._latency, self._bandwidth = latency, bandwidth
        reads = {
            f"read{n}": In(request_response(tagged(range(lines), number), tagged(line, number)))
            for n, number in enumerate(clients)
        }
        super().__init__({"i": In(stream.Signature(line_write(line, lines))), **reads})

    def elaborate(self, platform):
        m = Module()
        cost = -(-self._line.size // 8)
        # Never more than a line for each port, and a cycle's worth, is saved up.
        most = 3 * cost
        budget = Signal(range(most + self._bandwidth + 1))
        ports = [self.i, self.read0.request, self.read1.request]
        first = Signal(range(3))
        granted = Signal(3)
        spent = Signal(range(most + 1))
        for start in range(3):
            with m.If(first == start):
                m.d.sync += first.eq((start + 1) % 3)
                wanted = 0
                for n in ((start + step) % 3 for step in range(3)):
                    wanted = wanted + Mux(ports[n].valid, cost, 0)
                    m.d.comb += granted[n].eq(ports[n].valid & (wanted <= budget))
                for n in ((start + step) % 3 for step in (2, 1, 0)):
                    with m.If(ports[n].valid & ~granted[n]):
                        m.d.sync += first.eq(n)
        m.d.comb += [port.ready.eq(granted[n]) for n, port in enumerate(ports)]
        m.d.comb += spent.eq(sum(Mux(granted[n], cost, 0) for n in range(3)))
        left = budget - spent
        m.d.sync += budget.eq(Mux(left > most, most, left) + self._bandwidth)

        reads = [self._read(m, n, port, granted[n + 1]) for n, port in enumerate((self.read0, self.read1))]
        m.submodules.lines = Instance(
            "external_lines",
            p_WIDTH=self._line.size,
            p_LINES=self._lines,
            p_ADDRESS=len(self.i.p.number),
            i_clk=ClockSignal(),
            i_write=granted[0],
            i_into=self.i.p.number,
            i_data=self.i.p.line.as_value(),
            **{f"i_from{n}": address for n, (address, _) in enumerate(reads)},
            **{f"o_line{n}": line for n, (_, line) in enumerate(reads)},
        )
        return m

    def _read(self, m, n, port, granted):
        """A request on its way; the address and the line that the memory has for it."""
        pending = data.StructLayout({"request": port.request.p.shape(), "valid": 1})
        stages = [Signal(pending, name=f"under_way{n}_{stage}") for stage in range(self._latency)]
        line = Signal(self._line.size, name=f"line{n}")
        m.d.sync += [
            stages[0].request.eq(port.request.p),
            stages[0].valid.eq(granted),
            *(late.eq(early) for early, late in pairwise(stages)),
        ]
        m.d.comb += [
            port.response.valid.eq(stages[-1].valid),
            port.response.p.client.eq(stages[-1].request.client),
            port.response.p.what.eq(line),
        ]
        return stages[-2].request.what, line
