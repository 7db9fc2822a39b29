"""From Verilog to a shared library that simulates it: Verilator, then g++, and the result is kept in the cache.

Verilator's own makefiles are left aside: the few compilations here need no make; the runtime and the headers that all
models share are compiled once for all; and code that runs only at start-up is not optimised. A small design is ready
in a second or two.
"""

import os
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from streamjoin.sim.run.code_sharing import sharing
from streamjoin.sim.run.packing import PortItems
from streamjoin.sim.verilog.generate import Verilog
from streamjoin.support import cache
from streamjoin.support.toolchain import WAVES, ToolError, compiler, run_tool, verilate, verilator_root

_VERILATOR_FLAGS = (
    *("--cc", "-O3", "--inline-mult", "1", "--x-assign", "fast", "--x-initial", "unique"),
    *("--no-timing", "--threads", "1", "-Wno-fatal", "-Wno-lint", "--prefix", "Vmodel"),
)
# Hidden, lest two models in one process share what their runtimes define.
_CXX_FLAGS = ("-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-w")
_OPTIMISATION = "-O2"
# The same flags for all, or the precompiled header would not fit; so start-up code opts out by itself.
_UNOPTIMISED = "#pragma GCC optimize (0)\n"
# What nobody has given a start value: word after word of a memory, where Verilator would give the same to all of them.
_START_VALUES = """\
#define VL_SCOPED_RAND_RESET_I(bits, scope, salt) VL_RAND_RESET_I(bits)
#define VL_SCOPED_RAND_RESET_Q(bits, scope, salt) VL_RAND_RESET_Q(bits)
#define VL_SCOPED_RAND_RESET_W(bits, words, scope, salt) VL_RAND_RESET_W(bits, words)
"""
_SHARED = """\
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>
#include "verilated.h"
"""
_RUNTIME = ("verilated.cpp", "verilated_threads.cpp")
# Beyond this size a model's fast code is compiled in pieces, side by side.
_PIECE_BYTES = 400_000
_TOP = "streamjoin_simulation"
_CONTROL = ("drain", "drained", "discarding", "halted", "dropped", "overflows")


@dataclass(frozen=True)
class Library:
    """A design compiled for simulation, to be opened by :class:`streamjoin.sim.run.model.Model`.

    Attributes
    ----------
    path
        The shared library.
    waves
        The format of waves it can write: ``None``, ``"vcd"``, ``"fst"`` or ``"saif"``.
    cached
        Whether it had been built before.
    """

    path: Path
    waves: str | None
    cached: bool


def build_library(
    verilog: Verilog,
    *,
    waves: str | None = None,
    flags: Sequence[str] = (),
    cxx_flags: Sequence[str] = (),
    registered_reset: bool = True,
) -> Library:
    """Compile a design together with the bulk driver, or find it in the cache.

    ``waves`` makes the library able to write them; it is slower even where none are written. ``flags`` go to
    Verilator, ``cxx_flags`` to the compiler, after our own. The compiler is ``$CXX``, or ``g++``. A reset that is not
    registered makes a slower simulator; it is there to measure by how much.
    """
    if waves not in WAVES:
        raise ValueError(f"waves are vcd, fst or saif, not {waves}")
    ports = _ports_header(verilog.manifest)
    top = _top(verilog.manifest, registered_reset)
    driver = files("streamjoin.sim.run").joinpath("driver.cpp").read_text()
    compiler = _Compiler.find(cxx_flags)
    shared = "" if waves else sharing(verilog.text)
    if waves == "fst":
        compiler.demand_fst_headers()
    cached = True

    def build(folder: Path) -> None:
        nonlocal cached
        cached = False
        runtime = cache.entry(compiler.key("runtime", str(waves)), lambda inner: _build_runtime(inner, waves, compiler))
        work = folder / "work"
        work.mkdir()
        (work / "design.v").write_text(verilog.text)
        (work / "top.v").write_text(top)
        (work / "ports.h").write_text(ports)
        (work / "driver.cpp").write_text(driver)
        (work / "sharing.vlt").write_text(shared)
        _verilate(work, [*WAVES[waves].flags, *flags, *([str(work / "sharing.vlt")] if shared else [])])
        objects = compiler.compile(work, ["driver.cpp", *_pieces(work)], waves, runtime / "shared.h")
        compiler.link(folder / "model.so", [*objects, *sorted(runtime.glob("*.o"))], WAVES[waves].libraries)
        shutil.rmtree(work)

    key = compiler.key(verilog.text, top, ports, driver, shared, str(waves), _START_VALUES, *_VERILATOR_FLAGS, *flags)
    folder = cache.entry(key, build)
    return Library(folder / "model.so", waves, cached)


def _ports_header(manifest: dict) -> str:
    """The header by which the driver knows the design's streams."""
    widths = {port["name"]: port["width"] for port in manifest["ports"]}
    missing = [name for name in ("clk", "rst", "o_result__valid", *_CONTROL) if name not in widths]
    if missing or not manifest["inputs"]:
        raise ValueError(f"{manifest['name']} is not a whole design: it lacks {', '.join(missing) or 'input streams'}")
    places = {port["name"]: _places(PortItems.of(port)) for port in manifest["ports"]}
    names = [stream["port"] for stream in manifest["inputs"]]
    inputs = [f"X({number}, {name}, {places[f'{name}__payload']})" for number, name in enumerate(names)]
    lost = "model->lost" if "lost" in widths else "0"  # few designs lose anything
    lines = [f"INPUTS(X) {' '.join(inputs)}", f"RESULT {places['o_result__payload']}", f"LOST(model) ({lost})"]
    return "".join(f"#define {line}\n" for line in lines)


def _places(items: PortItems) -> str:
    """What the driver's ``Places`` are made of."""
    return ", ".join(map(str, (items.slots, items.width, items.stride, items.count_at, items.count_width)))


def _top(manifest: dict, registered_reset: bool) -> str:
    """A module around the design that hands on all ports, but the reset through a register.

    Verilator computes whatever an input reaches without a register in between anew in every half cycle, and a reset
    reaches nearly everything: this one register makes a simulation of 64 cores almost twice as fast.
    """
    update = "@(posedge clk) reset <= rst" if registered_reset else "@* reset = rst"
    declarations = [f"{port['direction']} [{port['width'] - 1}:0] {port['name']}" for port in manifest["ports"]]
    pins = [f".{port['name']}({'reset' if port['name'] == 'rst' else port['name']})" for port in manifest["ports"]]
    return f"""\
module {_TOP}({", ".join(declarations)});
  reg reset;
  always {update};
  {manifest["name"]} joined({", ".join(pins)});
endmodule
"""


def _verilate(work: Path, flags: Sequence[str]) -> None:
    options = [*_VERILATOR_FLAGS, *flags, "--top-module", _TOP, "--Mdir", work]
    verilate([*options, work / "design.v", work / "top.v"])


def _pieces(work: Path) -> list[str]:
    """Gather the generated sources into few translation units: start-up code in one, the rest by its size."""
    generated = sorted(work.glob("Vmodel*.cpp"), key=lambda path: (-path.stat().st_size, path.name))
    slow = [path for path in generated if "__Slow" in path.name]
    fast = [path for path in generated if path not in slow]
    count = min(1 + sum(path.stat().st_size for path in fast) // _PIECE_BYTES, _jobs(), len(fast))
    # Dealt out by falling size, the pieces come out about even.
    units = {f"fast_{number}.cpp": fast[number::count] for number in range(count)} | {"slow.cpp": slow}
    for name, paths in units.items():
        includes = "".join(f'#include "{path.name}"\n' for path in paths)
        (work / name).write_text(_UNOPTIMISED + _START_VALUES + includes if name == "slow.cpp" else includes)
    return list(units)


def _build_runtime(folder: Path, waves: str | None, compiler: "_Compiler") -> None:
    """Compile what all models share: Verilator's runtime, and its headers."""
    include = verilator_root() / "include"
    sources = (*_RUNTIME, *WAVES[waves].sources)
    for name in sources:
        (folder / name).write_text(f'#include "{include / name}"\n')
    compiler.compile(folder, sources, waves)
    for name in sources:
        (folder / name).unlink()
    (folder / "shared.h").write_text(_SHARED)
    compiler.precompile(folder / "shared.h", waves)


@dataclass(frozen=True)
class _Compiler:
    command: tuple[str, ...]
    flags: tuple[str, ...]
    version: str

    @classmethod
    def find(cls, flags: Sequence[str]) -> "_Compiler":
        command = compiler()
        banner = run_tool([*command, "--version"]).partition("\n")[0]
        return cls(tuple(command), (*_CXX_FLAGS, _OPTIMISATION, *flags), banner)

    def key(self, *parts: str) -> str:
        """A cache key for ``parts`` and all that this compiler and this Verilator contribute."""
        return cache.key_of(version("verilator"), self.version, *self.command, *self.flags, _SHARED, *parts)

    def compile(
        self, folder: Path, sources: Sequence[str], waves: str | None, header: Path | None = None
    ) -> list[Path]:
        """Compile sources of ``folder`` side by side, each with ``header`` before it."""
        before = [] if header is None else ["-include", header]

        def compile_one(name: str) -> Path:
            target = (folder / name).with_suffix(".o")
            options = [*self._options(waves), "-I", folder, *before]
            run_tool([*self.command, *options, "-c", folder / name, "-o", target])
            return target

        with ThreadPoolExecutor(_jobs()) as pool:
            return list(pool.map(compile_one, sources))

    def precompile(self, header: Path, waves: str | None) -> None:
        """Compile a header; where it does not fit a later compilation, the compiler quietly reads the text instead."""
        target = header.with_name(f"{header.name}.gch")
        run_tool([*self.command, *self._options(waves), "-x", "c++-header", header, "-o", target])

    def _options(self, waves: str | None) -> list[str | Path]:
        include = verilator_root() / "include"
        switches = {"TRACE": waves is not None, **{f"TRACE_{each.upper()}": waves == each for each in WAVES if each}}
        switches |= dict.fromkeys(("COVERAGE", "SC", "TIMING"), False)
        defines = ["-DVERILATOR=1", *(f"-DVM_{name}={int(value)}" for name, value in switches.items())]
        return [*self.flags, *defines, "-I", include, "-I", include / "vltstd"]

    def link(self, target: Path, objects: Sequence[Path], libraries: Sequence[str]) -> None:
        command = [*self.command, "-shared", "-o", target, *objects, "-pthread", *libraries]
        run_tool(command)

    def demand_fst_headers(self) -> None:
        source = "#include <lz4.h>\n#include <zlib.h>\n"
        command = [*self.command, *self.flags, "-E", "-x", "c++", "-"]
        if subprocess.run(command, input=source, text=True, capture_output=True, check=False).returncode:
            raise ToolError(
                "waves in FST need the headers of lz4 and zlib: install them (Debian: apt-get install liblz4-dev "
                "zlib1g-dev) or write a .vcd file instead"
            )


def _jobs() -> int:
    return len(os.sched_getaffinity(0))
