"""The ports that every join has, and how a join hands its inputs and its control ports to the gate inside it."""

from amaranth.hdl import Module
from amaranth.lib import wiring
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
    return {f"i_{side}": In(layout.tuples) for side in layout.sides}


def join_ports(layout: TupleLayout) -> dict:
    """Tuples in, results out, and control."""
    return {**input_ports(layout), "o_result": Out(layout.results), **CONTROL}


def connect_gate(m: Module, owner: wiring.Component, gate: wiring.Component, layout: TupleLayout) -> None:
    """Let a gate, or a driver, take the tuples of the component around it and be what its control ports show."""
    for name in input_ports(layout):
        connect(m, flipped(getattr(owner, name)), getattr(gate, name))
    for name, member in CONTROL.items():
        inner, outer = getattr(gate, name), getattr(owner, name)
        m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
