"""The ports that every join has."""

from amaranth.lib.wiring import In, Out

from streamjoin.hdl.pairing import Pairing

#: How a run ends and what became of tuples that found no room.
CONTROL = {
    "drain": In(1),
    "drained": Out(1),
    "halted": Out(1),
    "discarding": Out(1),
    "dropped": Out(32),
    "overflows": Out(32),
}


def face(pairing: Pairing) -> dict:
    """Tuples in, results out, and control."""
    return {
        **{f"i_{side}": In(pairing.tuples) for side in pairing.sides},
        "o_result": Out(pairing.results),
        **CONTROL,
    }
