"""The component under test as a bench sees it: ports by name, and a clock that the test itself turns.

There is one task. In each cycle it drives all inputs, lets everything settle, looks at all ports, and only then
raises the clock. Nothing changes near the edge and nothing is read near it, so a bench sees the same on simulators
that disagree about what is visible right after an edge.
"""

import json
import os
from collections.abc import Callable
from typing import Any, Protocol

from cocotb.handle import HierarchyObject
from cocotb.triggers import Timer

from streamjoin.sim.benches import ENVIRONMENT
from streamjoin.sim.run.packing import PortItems

_BENCH = json.loads(os.environ[ENVIRONMENT])
MANIFEST: dict = _BENCH["manifest"]
SETTINGS: dict = _BENCH["settings"]
#: Where several variants of a component share a build: each one's settings by its name.
CASES: dict[str, dict] = SETTINGS.get("cases", {})

_HALF = Timer(5, "ns")


class Agent(Protocol):
    """Someone who takes part in every cycle."""

    def drive(self) -> None:
        """Set inputs for the coming cycle."""

    def sample(self) -> None:
        """Look at the settled ports, right before the edge."""


class Dut:
    """A component, or one case of a bundle.

    Ports are read and driven by ``dut[name]``, as integers, a structure also by a dictionary of its fields.
    """

    def __init__(self, top: HierarchyObject, case: str | None = None):
        prefix = f"{case}__" if case else ""
        ports = [port for port in MANIFEST["ports"] if port["width"]]
        # What a handle can do depends on what it is in the design.
        self._inputs: list[Any] = [top[port["name"]] for port in ports if port["direction"] == "input"]
        self._clk: Any = top["clk"]
        self._rst: Any = top["rst"]
        own = {port["name"].removeprefix(prefix): port for port in ports if port["name"].startswith(prefix)}
        self._ports: dict[str, Any] = {name: top[port["name"]] for name, port in own.items()}
        self._fields = {name: port["fields"] for name, port in own.items() if "fields" in port}
        self._items = {name: PortItems.of(port) for name, port in own.items() if "slots" in port}
        self._clear = (1 << own["clear"]["width"]) - 1 if "clear" in own else 0
        self._driven: dict[str, int] = {}
        self._agents: list[Agent] = []
        self.cycle_number = 0

    def __getitem__(self, name: str) -> int:
        return int(self._ports[name].value)

    def __setitem__(self, name: str, value: int | dict[str, int]) -> None:
        if isinstance(value, dict):
            value = sum(value.get(field["name"], 0) << field["offset"] for field in self._fields[name])
        if self._driven.get(name) != value:
            self._driven[name] = value
            self._ports[name].value = value

    def __contains__(self, name: str) -> bool:
        return name in self._ports

    def decode(self, name: str, value: int) -> Any:
        """A value of this port: a dictionary of its fields if it has any, else the number."""
        if name not in self._fields:
            return value
        return {f["name"]: value >> f["offset"] & (1 << f["width"]) - 1 for f in self._fields[name]}

    def field_names(self, name: str) -> list[str]:
        """The fields of this port, or of an item of it if it has slots for several, the least significant first."""
        return [field["name"] for field in (self._items[name].fields if name in self._items else self._fields[name])]

    def items(self, name: str) -> list[Any]:
        """What a transfer of this port would hold, decoded; what is in further slots may be undefined."""
        if name not in self._items:
            return [self.decode(name, self[name])]
        port, bits = self._items[name], str(self._ports[name].value)[::-1]

        def number(begin: int, width: int) -> int:
            return int(bits[begin : begin + width][::-1], 2)

        count = number(port.count_at, port.count_width)
        assert 1 <= count <= port.slots, f"{name} holds {count} items, not from 1 to {port.slots}"
        begins = [slot * port.stride for slot in range(count)]
        return [{f["name"]: number(begin + f["offset"], f["width"]) for f in port.fields} for begin in begins]

    def slot(self, name: str) -> dict[str, int] | None:
        """The tuple in a slot, None if the slot is empty; what an empty slot holds may be undefined."""
        bits = str(self._ports[name].value)
        (valid,) = (field["offset"] for field in self._fields[name] if field["name"] == "valid")
        if bits[-1 - valid] == "0":
            return None
        tuple_ = self.decode(name, int(bits, 2))
        return {field.removeprefix("tuple."): value for field, value in tuple_.items() if field != "valid"}

    def set_slot(self, name: str, tuple_: dict[str, int] | None) -> None:
        """Drive a slot that holds this tuple, or an empty one."""
        fields = {f"tuple.{field}": value for field, value in (tuple_ or {}).items()}
        self[name] = {"valid": int(tuple_ is not None), **fields}

    def attach(self, agent: Agent) -> None:
        """Let an agent take part until the next reset."""
        self._agents.append(agent)

    async def reset(self, cycles: int = 2) -> None:
        """Reset, wherever the component stands: all agents go, all inputs are 0."""
        self._agents.clear()
        self._driven.clear()
        for handle in self._inputs:
            handle.value = 0
        self._rst.value = 1
        if self._clear:  # parts below have resets of their own
            self["clear"] = self._clear
        for _ in range(cycles):
            await self.cycle()
        self._rst.value = 0
        if self._clear:
            self["clear"] = 0
        self.cycle_number = 0

    async def settle(self) -> None:
        """The first half of a cycle: inputs are driven, and all ports can be read."""
        for agent in self._agents:
            agent.drive()
        self._clk.value = 0
        await _HALF

    async def edge(self) -> None:
        """The second half: agents look at the ports, then the clock rises."""
        for agent in self._agents:
            agent.sample()
        self._clk.value = 1
        await _HALF
        self.cycle_number += 1

    async def cycle(self) -> None:
        await self.settle()
        await self.edge()

    async def cycles(self, count: int) -> None:
        for _ in range(count):
            await self.cycle()

    async def until(self, condition: Callable[[], object], *, within: int) -> None:
        """Run until ``condition`` holds after a cycle; fail if it does not within so many cycles."""
        for _ in range(within):
            if condition():
                return
            await self.cycle()
        assert condition(), f"not reached within {within} cycles"
