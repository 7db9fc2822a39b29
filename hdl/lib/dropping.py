"""Admission control that drops: tuples that find no room are taken, thrown away, and counted."""

from amaranth.hdl import Module, Mux, Signal

from streamjoin.hdl.base.part import Part


def drop_while(m: Module, full, gate: Part, ports: list) -> None:
    """Throw away whatever the input ports of a gate bring while it is full.

    ``discarding`` is up in the cycle of the transfer, in which the gate is to be ready; ``dropped`` counts a cycle
    later, so that no input has to wait for the counter.
    """
    lost = Signal(range(len(ports) + 1))
    m.d.comb += gate.discarding.eq(full)
    m.d.sync += [
        lost.eq(Mux(gate.discarding, sum(port.valid for port in ports), 0)),
        gate.dropped.eq(gate.dropped + lost),
    ]
