"""The ports that every join has, and how a join hands its inputs and its control ports to the gate inside it."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.tuple_layout import TupleLayout

#: How a run ends and what became of tuples that found no room.
CONTROL = {
    "drain": In(1),
    "drained": Out(1),
    "halted": Out(1),
    "discarding": Out(1),
    "dropped": Out(32),
    "overflows": Out(32),
}


def input_ports(layout: TupleLayout) -> dict:
    """A stream of tuples in for each side."""
    return {f"i_{side}": In(stream.Signature(layout.input_payload(side))) for side in layout.sides}


def join_ports(layout: TupleLayout) -> dict:
    """Tuples in, results out, and control.

    Arrival order is the order of transfers, and in one cycle that of the ports. With a ``width`` of several tuples it
    is more to say. A transfer then takes ``i_r`` and ``i_s`` together:

    - Whoever feeds the design raises both valids in the same cycle, and at least one ``count`` is above 0. Nothing but
      the slots beyond the counts changes until the transfer.
    - The design raises both readies in the same cycle, or neither, as long as both valids are up; so there is one
      transfer for both, or none.
    - Slot 0 is the earliest of its stream. A tuple of S comes after as many of the R tuples of this transfer as its
      ``after`` says: these values never decrease from slot to slot, and none is above the count of R. Before the R
      tuple of slot i come those S tuples whose ``after`` is at most i.
    - ``discarding`` throws away the whole transfer, and ``dropped`` counts its tuples.

    With a ``results_width`` of several results a transfer of ``o_result`` holds from one to so many of them. Their
    order among each other, where a design promises one, is that of the slots.
    """
    return {**input_ports(layout), "o_result": Out(stream.Signature(layout.output_payload)), **CONTROL}


def connect_gate(m: Module, owner: wiring.Component, gate: wiring.Component, layout: TupleLayout) -> None:
    """Let a gate, or a driver, take the tuples of the component around it and be what its control ports show."""
    for name in input_ports(layout):
        connect(m, flipped(getattr(owner, name)), getattr(gate, name))
    for name, member in CONTROL.items():
        inner, outer = getattr(gate, name), getattr(owner, name)
        m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
