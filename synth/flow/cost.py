"""What a component costs on a device: look-up tables, registers, memories, and the clock it reaches."""

import re
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from streamjoin.hdl.base.part import Part, Ported
from streamjoin.synth.flow import tools
from streamjoin.synth.flow.critical_path import CriticalPath, from_report, from_timing_analysis
from streamjoin.synth.flow.errors import TooLargeError
from streamjoin.synth.flow.hierarchy import Hierarchy
from streamjoin.synth.flow.netlist import Memory, Netlist, synthesise
from streamjoin.synth.flow.place_and_route import place_and_route
from streamjoin.synth.flow.targets import ESTIMATE, Target

# What nextpnr says when the cells of a device are used up.
_NO_ROOM = re.compile(r"no B[Ee][Ll]s remaining|utilisation limit|[Uu]nable to place|[Ff]ailed to place")
# A memory of fewer bits would waste a block RAM.
_LEAST_RAM_BITS = 512
_WAY_OUT = "make it smaller, or take a larger target"


@dataclass(frozen=True)
class Cost:
    """What a component costs on a target; the harness around it does not count.

    Attributes
    ----------
    target, clock
        Name of the target, and what its clock frequency rests on, see :class:`Target`.
    fmax_mhz
        The highest clock frequency by seed; empty where there is none; an estimate stands under seed 0.
    luts, ffs, brams, lutrams
        Look-up tables (those used as carry or memory included), registers, block RAMs, memories in look-up tables.
    cells
        All cells by type.
    memory_bits, ram_as_registers
        Bits of all memories, and of those for which the target has no fitting RAM, so that they became registers.
    lost_memories
        Those of them that should have been RAM: not small, and read in a way that the target's RAM can be read.
    critical_path
        The longest path between registers, of the seed nearest the median.
    versions
        Of the tools.
    seconds
        How long it took; next to nothing if it had been done before.
    netlist
        SHA-256 of the netlist, harness included.
    """

    target: str
    clock: str | None
    fmax_mhz: dict[int, float]
    luts: int
    ffs: int
    brams: int
    lutrams: int
    cells: dict[str, int]
    memory_bits: int
    ram_as_registers: int
    lost_memories: list[str]
    critical_path: CriticalPath
    versions: dict[str, str]
    seconds: float
    netlist: str

    @property
    def median_mhz(self) -> float | None:
        return statistics.median(self.fmax_mhz.values()) if self.fmax_mhz else None

    @property
    def min_mhz(self) -> float | None:
        return min(self.fmax_mhz.values(), default=None)

    @property
    def max_mhz(self) -> float | None:
        return max(self.fmax_mhz.values(), default=None)

    def as_dict(self) -> dict:
        """Plain values for JSON."""
        return {
            "target": self.target,
            "clock": self.clock,
            "fmax_mhz": {
                "median": self.median_mhz,
                "min": self.min_mhz,
                "max": self.max_mhz,
                "seeds": {str(seed): mhz for seed, mhz in self.fmax_mhz.items()},
            },
            "luts": self.luts,
            "ffs": self.ffs,
            "brams": self.brams,
            "lutrams": self.lutrams,
            "cells": self.cells,
            "memory_bits": self.memory_bits,
            "ram_as_registers": self.ram_as_registers,
            "lost_memories": self.lost_memories,
            "critical_path": self.critical_path.as_dict(),
            "versions": self.versions,
            "seconds": self.seconds,
            "netlist": self.netlist,
        }


def measure(
    component: Ported,
    target: Target,
    *,
    name: str,
    seeds: int = 1,
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
) -> Cost:
    """Synthesise ``component`` for ``target`` and, where the target knows how, place and route it.

    ``name`` is what errors call the component. Seeds 1 to ``seeds`` are placed and routed, ``jobs`` at a time; without
    place and route they do not matter. ``progress`` hears a word as each of the :func:`stages` is done. Whatever was
    done before comes from the cache. A component too large for the device raises :exc:`TooLargeError`.
    """
    start = time.monotonic()
    versions = tools.versions(target)
    netlist = synthesise(component, target)
    hear = progress or (lambda _: None)
    hear("synthesis")
    area = _area(netlist, target)
    _check_fit(name, area, target)
    hierarchy = Hierarchy(netlist.verilog, type(component).__name__)
    fmax_mhz, path = {}, CriticalPath(())
    if target.clock == ESTIMATE:
        path = from_timing_analysis(netlist.timing, hierarchy)
        fmax_mhz = {0: round(1000 / path.nanoseconds, 2)}
    elif target.router:
        try:
            reports = place_and_route(
                netlist,
                target,
                range(1, seeds + 1),
                share=_share(area, target),
                closed=isinstance(component, Part) and component.closed,
                jobs=jobs,
                progress=lambda seed: hear(f"seed {seed}"),
            )
        except tools.ToolRunError as failure:
            if _NO_ROOM.search(failure.output):
                raise TooLargeError(f"{name} does not fit {target.name}: {_WAY_OUT}") from failure
            raise
        fmax_mhz = {seed: _fmax(report) for seed, report in reports.items()}
        typical = statistics.median_low(fmax_mhz.values())
        path = next(from_report(reports[seed], hierarchy) for seed, mhz in fmax_mhz.items() if mhz == typical)
    return Cost(
        target=target.name,
        clock=target.clock,
        fmax_mhz=fmax_mhz,
        **area,
        cells=netlist.cells,
        memory_bits=sum(memory.bits for memory in netlist.memories),
        ram_as_registers=sum(memory.bits for memory in netlist.memories if memory.registers),
        lost_memories=[memory.name for memory in netlist.memories if memory.registers and _is_ram(memory, target)],
        critical_path=path,
        versions=versions,
        seconds=round(time.monotonic() - start, 2),
        netlist=netlist.hash,
    )


def stages(target: Target, seeds: int) -> int:
    """How many words ``progress`` hears while a component is measured."""
    return 1 + (seeds if target.router else 0)


def _area(netlist: Netlist, target: Target) -> dict[str, int]:
    return {
        resource: sum(
            weight * count
            for pattern, weight in getattr(target, resource).items()
            for cell, count in netlist.cells.items()
            if fnmatchcase(cell, pattern)
        )
        for resource in ("luts", "ffs", "brams", "lutrams")
    }


def _share(area: dict[str, int], target: Target) -> float:
    """How much of the device is taken, of whatever is scarcest."""
    return max((area[resource] / available for resource, available in target.capacity.items()), default=0.0)


def _is_ram(memory: Memory, target: Target) -> bool:
    """Whether a memory belongs into RAM on ``target``."""
    return memory.bits >= _LEAST_RAM_BITS and (target.reads_at_once or not memory.asynchronous)


def _check_fit(name: str, area: dict[str, int], target: Target) -> None:
    words = {"luts": "LUTs", "ffs": "registers", "brams": "block RAMs"}
    for resource, available in target.capacity.items():
        if area[resource] > available:
            raise TooLargeError(
                f"{name} needs {area[resource]} {words[resource]}, {target.name} has {available}: {_WAY_OUT}"
            )


def _fmax(report: dict) -> float:
    return round(min(clock["achieved"] for clock in report["fmax"].values()), 2)
