"""Multiplexers of many bits whose select is replicated: several registers that say the same.

A register that selects a hundred bits drives a hundred loads, and routers make detours to some of them: such nets were
the longest paths of chains of cores, however near the loads. So each register selects a share of the bits only.
"""

from amaranth.hdl import Cat, Module, Mux, Value, ValueLike

from streamjoin.hdl.lib.control_tree import Relay

#: Bits that one register selects, at most.
SHARE = 16


def select_registers(m: Module, name: str, value: ValueLike, selected: ValueLike) -> list[Value]:
    """What the bit ``value`` was a cycle ago, in as many registers as it takes to select all of ``selected``."""
    relays = [Relay(1, resets=True) for _ in range(0, len(Value.cast(selected)), SHARE)]
    for n, relay in enumerate(relays):
        m.submodules[f"{name}{n}"] = relay
        m.d.comb += relay.i.eq(value)
    return [relay.o for relay in relays]


def replicated_mux(selects: list[Value], one: ValueLike, other: ValueLike) -> Value:
    """``one`` where the selects are up, else ``other``."""
    one, other = Value.cast(one), Value.cast(other)
    shares = range(0, len(one), SHARE)
    return Cat(
        Mux(select, one[at : at + SHARE], other[at : at + SHARE]) for select, at in zip(selects, shares, strict=True)
    )
