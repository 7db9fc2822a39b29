"""From a component to a netlist of a device's cells, by Yosys.

The component keeps its boundary while it is mapped, so that its cells can be told from those of the harness around
it, and loses it afterwards, so that place and route sees one flat netlist. What a component costs is thus counted
exactly, and the harness takes no part in it.
"""

import gzip
import hashlib
import json
import re
import shutil
from collections import Counter
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from streamjoin.hdl.base.part import Ported
from streamjoin.sim.verilog.generate import generate
from streamjoin.support import cache
from streamjoin.synth.flow import tools
from streamjoin.synth.flow.harness import Harness
from streamjoin.synth.flow.targets import ESTIMATE, Target

TOP = "harness"
# What Yosys' passes write besides the netlist.
_WORDS = ("cells.json", "memories.il", "registers.il", "timing.txt")
_INSTANCE = re.compile(r"^  (\w+) dut \(", re.MULTILINE)
_MEMORY = re.compile(r"^  cell \$mem_v2 (\S+)\n(.*?)^  end\n", re.MULTILINE | re.DOTALL)
_PARAMETER = re.compile(r"^    parameter (?:signed )?\\(\w+) (\S+)$", re.MULTILINE)


@dataclass(frozen=True)
class Memory:
    """A memory of the component: its name, its shape, and what became of it.

    ``asynchronous`` tells that it can be read without a clock edge, which block RAM cannot do; ``registers`` that no
    RAM of the target fits it, so that it takes a register a bit.
    """

    name: str
    depth: int
    width: int
    asynchronous: bool
    registers: bool

    @property
    def bits(self) -> int:
        return self.depth * self.width


@dataclass(frozen=True)
class Netlist:
    """A component mapped to the cells of a target.

    Attributes
    ----------
    folder
        Where it is kept.
    verilog
        The hierarchical Verilog that it was made from.
    cells
        How many cells of each type the component has, without the harness.
    memories
        The component's memories.
    hash
        SHA-256 of the netlist.
    timing
        What Yosys' timing analysis printed, for targets whose clock is an estimate.
    """

    folder: Path
    verilog: str
    cells: dict[str, int]
    memories: tuple[Memory, ...]
    hash: str
    timing: str

    def write(self, path: Path) -> None:
        """Write the flat netlist, harness included, in Yosys' JSON."""
        with gzip.open(self.folder / "netlist.json.gz") as packed, path.open("wb") as file:
            shutil.copyfileobj(packed, file)


def synthesise(component: Ported, target: Target) -> Netlist:
    """Map ``component``, in its harness, to ``target``; done before, it comes from the cache."""
    verilog = generate(Harness(component), TOP).text
    found = _INSTANCE.search(verilog)
    assert found is not None  # the harness holds the component
    dut = found[1]
    script = "\n".join(_script(target, dut))

    def build(folder: Path) -> None:
        work = folder / "work"
        work.mkdir()
        (work / "design.v").write_text(verilog)
        (work / "rewrite.v").write_text(target.rewrite)
        (work / "script").write_text(script)
        tools.yosys(work / "script")
        netlist = (work / "netlist.json").read_bytes()
        with gzip.open(folder / "netlist.json.gz", "wb", compresslevel=1) as packed:
            packed.write(netlist)
        (folder / "hash").write_text(hashlib.sha256(netlist).hexdigest())
        # Yosys' own words are kept, not what we make of them: that may change.
        for name in _WORDS:
            if (work / name).exists():
                shutil.move(work / name, folder / name)
        shutil.rmtree(work)

    folder = cache.entry(cache.key_of("synthesis", verilog, script, target.rewrite, version("pyosys")), build)
    words = {name: (folder / name).read_text() for name in _WORDS if (folder / name).exists()}
    return Netlist(
        folder=folder,
        verilog=verilog,
        cells=_cells(words["cells.json"], dut),
        memories=_memories(words["memories.il"], words["registers.il"]),
        hash=(folder / "hash").read_text(),
        timing=words.get("timing.txt", ""),
    )


def _script(target: Target, dut: str) -> list[str]:
    """Yosys' passes for ``target`` and a design whose module is ``dut``."""
    synthesis = f"{target.synthesis} -top {TOP}"
    parts = f"{TOP}_*"  # the design, and what within it keeps its boundary by its own wish
    return [
        "read_verilog design.v",
        f"hierarchy -top {TOP}",
        f"setattr -mod -set keep_hierarchy 1 {dut}",
        f"{synthesis} -run :{target.ram_label}",
        f"dump -o memories.il {parts}/t:$mem_v2",
        *target.before_ram,
        f"{synthesis} -run {target.ram_label}:map_ffram",
        # What is still a memory now finds no RAM that it fits, and becomes registers.
        f"dump -o registers.il {parts}/t:$mem_v2",
        f"{synthesis} -run map_ffram:check",
        f"tee -o cells.json stat -json {parts}",
        f"setattr -mod -unset keep_hierarchy {parts}",
        "flatten",
        "delete */t:$scopeinfo",
        "autoname",
        *(["tee -o timing.txt sta"] if target.clock == ESTIMATE else []),
        *target.frame,
        f"{synthesis} -run check:",
        # Where a cell came from would make equal netlists differ by the folders of their tools.
        "attrmap -remove src",
        f"select {TOP}",
        "write_json -selected netlist.json",
    ]


def _cells(stat: str, module: str) -> dict[str, int]:
    """The cells of a module and of all modules in it."""
    statistics = json.loads(stat)["modules"]
    modules = {name.removeprefix("\\"): about["num_cells_by_type"] for name, about in statistics.items()}

    def count(module: str) -> Counter:
        cells = Counter()
        for cell, number in modules[module].items():
            if cell in modules:
                cells.update({inner: number * each for inner, each in count(cell).items()})
            elif not cell.startswith("$"):
                cells[cell] += number
        return cells

    return dict(sorted(count(module).items()))


def _memories(before: str, after: str) -> tuple[Memory, ...]:
    left = {name for name, _ in _MEMORY.findall(after)}
    memories = []
    for name, body in _MEMORY.findall(before):
        parameters = dict(_PARAMETER.findall(body))
        memory = Memory(
            name.removeprefix("\\"),
            depth=int(parameters["SIZE"]),
            width=int(parameters["WIDTH"]),
            asynchronous="0" in parameters["RD_CLK_ENABLE"].partition("'")[2],
            registers=name in left,
        )
        memories.append(memory)
    return tuple(memories)
