"""The longest path of a design, told in its parts: where it starts, what it runs through, and where it ends."""

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from streamjoin.synth.flow.errors import SynthError
from streamjoin.synth.flow.hierarchy import Hierarchy

# A line of Yosys' timing analysis: arrival in ps, cell, type and pins; the path stands there from its end.
_ARRIVAL = re.compile(r"^ +(\d+) (\S+) \(\w+\.(\S+)\)$", re.MULTILINE)
_LATEST = re.compile(r"^Latest arrival time in '\w+' is (\d+):\n(.*?)^$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Step:
    """A stretch of the path within one part.

    Attributes
    ----------
    part
        The part's place in the design, such as ``core0.matches``; empty for the design's own logic.
    kind
        Its kind, such as ``FIFO``; ``harness`` for the registers around the design.
    levels
        Levels of logic; a carry chain counts as one.
    logic_ns, routing_ns
        What its cells and the wires to them take.
    """

    part: str
    kind: str
    levels: int
    logic_ns: float
    routing_ns: float

    @property
    def name(self) -> str:
        return f"{self.part} ({self.kind})" if self.part else self.kind


@dataclass(frozen=True)
class CriticalPath:
    """The steps from one register to another."""

    steps: tuple[Step, ...]

    @property
    def levels(self) -> int:
        return sum(step.levels for step in self.steps)

    @property
    def nanoseconds(self) -> float:
        return sum(step.logic_ns + step.routing_ns for step in self.steps)

    @property
    def routing_share(self) -> float:
        return sum(step.routing_ns for step in self.steps) / self.nanoseconds if self.steps else 0.0

    def __str__(self) -> str:
        way = " -> ".join(step.name for step in self.steps)
        return f"{way}: {self.nanoseconds:.1f} ns, {self.levels} levels of logic, {self.routing_share:.0%} routing"

    def as_dict(self) -> dict:
        return {
            "nanoseconds": round(self.nanoseconds, 3),
            "levels": self.levels,
            "routing_share": round(self.routing_share, 3),
            "steps": [asdict(step) for step in self.steps],
        }


def from_report(report: dict, hierarchy: Hierarchy) -> CriticalPath:
    """The longest path between registers in nextpnr's report."""
    for path in report["critical_paths"]:
        if path["from"] == path["to"] != "<async>":
            return CriticalPath(tuple(_steps(path["path"], hierarchy)))
    return CriticalPath(())


def from_timing_analysis(text: str, hierarchy: Hierarchy) -> CriticalPath:
    """The longest path in what Yosys' ``sta`` printed: delays of cells alone, and none of wires."""
    found = _LATEST.search(text)
    if found is None:
        raise SynthError("Yosys' timing analysis found no path: the design has no registers")
    before, hops = 0, []
    for arrival, cell, pins in reversed(_ARRIVAL.findall(found[2])):
        kind = "logic" if "->" in pins and hops else "edge"
        hops.append({"type": kind, "delay": (int(arrival) - before) / 1000, "to": {"cell": cell}})
        before = int(arrival)
    return CriticalPath(tuple(_steps(hops, hierarchy, routed=False)))


def _steps(hops: Iterable[dict], hierarchy: Hierarchy, *, routed: bool = True) -> list[Step]:
    steps: list[Step] = []
    wire_ns = 0.0
    for hop in hops:
        if hop["type"] == "routing":
            wire_ns += hop["delay"]
            continue
        part, kind = hierarchy.part_of(hop["to"]["cell"])
        # Within a carry chain the wires take no time.
        level = int(hop["type"] == "logic" and (wire_ns > 0 or not routed))
        step = Step(part, kind, level, hop["delay"], wire_ns)
        if steps and (steps[-1].part, steps[-1].kind) == (part, kind):
            last = steps.pop()
            step = Step(part, kind, last.levels + level, last.logic_ns + hop["delay"], last.routing_ns + wire_ns)
        steps.append(step)
        wire_ns = 0.0
    return [Step(s.part, s.kind, s.levels, round(s.logic_ns, 3), round(s.routing_ns, 3)) for s in steps]
