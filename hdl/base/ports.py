"""The ports that every join has."""

from amaranth.lib.wiring import In, Out

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


def join_ports(layout: TupleLayout) -> dict:
    """Tuples in, results out, and control."""
    return {
        **{f"i_{side}": In(layout.tuples) for side in layout.sides},
        "o_result": Out(layout.results),
        **CONTROL,
    }
