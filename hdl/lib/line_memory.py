"""A memory of lines, each of several items, with one write port and several read ports."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data, memory, stream
from amaranth.lib.wiring import In

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.ram import NEVER_COLLIDES
from streamjoin.hdl.lib.request import request_response, tagged


def line_write(line, lines: int) -> data.StructLayout:
    """A line and its number."""
    return data.StructLayout({"line": line, "number": range(lines)})


class LineMemory(Part):
    """Writes a line and reads one at each read port in every cycle.

    Each read port takes a request in every cycle, and responds in the next. Whoever reads a line in the cycle in which
    it is written gets either; nobody here does.

    Parameters
    ----------
    line
        What a line looks like.
    lines
        How many there are.
    clients
        For each read port, how many share it.

    Members
    -------
    i
        Lines to be written; always ready.
    read0, read1, …
        The read ports.
    """

    def __init__(self, line, lines: int, clients: tuple[int, ...]):
        self._line, self._lines, self._clients = line, lines, clients
        reads = {
            f"read{n}": In(request_response(tagged(range(lines), number), tagged(line, number)))
            for n, number in enumerate(clients)
        }
        super().__init__({"i": In(stream.Signature(line_write(line, lines))), **reads})

    def elaborate(self, platform):
        m = Module()
        m.submodules.lines = lines = memory.Memory(shape=self._line, depth=self._lines, init=[], attrs=NEVER_COLLIDES)
        write = lines.write_port()
        m.d.comb += [
            self.i.ready.eq(1),
            write.en.eq(self.i.valid),
            write.addr.eq(self.i.p.number),
            write.data.eq(self.i.p.line),
        ]
        for n in range(len(self._clients)):
            port, read = getattr(self, f"read{n}"), lines.read_port()
            asked = Signal(name=f"asked{n}")
            client = Signal.like(port.request.p.client, name=f"client{n}", reset_less=True)
            m.d.comb += [
                port.request.ready.eq(1),
                read.addr.eq(port.request.p.what),
                read.en.eq(port.request.valid),
                port.response.valid.eq(asked),
                port.response.p.what.eq(read.data),
                port.response.p.client.eq(client),
            ]
            m.d.sync += [asked.eq(port.request.valid), client.eq(port.request.p.client)]
        return m
