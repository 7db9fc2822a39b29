"""Run a cocotb bench against a component, in Verilator or in Icarus Verilog.

cocotb's own runner starts the simulation but does not build it: it would open every signal inside the design to the
bench, which costs several times the speed, and compile Verilator's runtime anew for each design. Here a bench sees
the ports of the top module and nothing else, and the runtime is compiled once for all.
"""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree as ET

from cocotb_tools import config
from cocotb_tools.runner import Icarus, Verilator

from streamjoin.hdl.base.part import Ported
from streamjoin.sim.benches import ENVIRONMENT
from streamjoin.sim.verilog.generate import Verilog, generate
from streamjoin.support import cache
from streamjoin.support.files import check_writable
from streamjoin.support.toolchain import WAVES, ToolError, compiler, demand, run_tool, verilate, verilator_root

SIMULATORS = ("verilator", "icarus")

_VERILATOR_FLAGS = ("--cc", "--vpi", "--no-timing", "--inline-mult", "1", "-Wno-fatal", "-Wno-lint", "--prefix", "Vtop")
_CXX_FLAGS = ("-std=gnu++17", "-w")
# The first run waits for the runtime, and most of the time goes into Python: only the design is optimised.
_OPTIMISED, _AS_IT_IS = "-O1", "-O0"
_RUNTIME = ("verilated.cpp", "verilated_threads.cpp", "verilated_vpi.cpp")


@dataclass(frozen=True)
class BenchReport:
    """How a bench went.

    Attributes
    ----------
    passed
        How many of its tests passed.
    failures
        The names of those that failed.
    log
        All that the simulator and the tests printed.
    """

    passed: int
    failures: tuple[str, ...]
    log: Path

    @property
    def failed(self) -> int:
        return len(self.failures)


def run_bench(
    component: Ported,
    name: str,
    bench: str,
    settings: dict,
    *,
    simulator: str = "verilator",
    seed: int,
    waves: Path | None = None,
) -> BenchReport:
    """Build ``component`` as the module ``name`` and run the tests of ``streamjoin.sim.benches.<bench>`` on it.

    The bench finds the manifest and the ``settings`` in the environment; equal seeds make equal runs. Builds are kept
    in the cache. ``waves`` is a ``.vcd`` or ``.fst`` file that shows the whole
    design through all tests.

    Raises :exc:`~streamjoin.support.toolchain.ToolError` if a tool is missing or fails, or the simulation ends without
    telling how the tests went. A test that fails is no error: the report names it.
    """
    verilog = generate(
        component, name, aliases=waves is not None
    )  # first of all: Amaranth warns of a component that nobody uses
    if simulator not in SIMULATORS:
        raise ValueError(f"the simulator is one of {', '.join(SIMULATORS)}, not {simulator!r}")
    if waves is not None and waves.suffix not in (".vcd", ".fst"):
        raise ValueError(f"waves go to a .vcd or a .fst file, not to {waves.name}")
    if waves is not None:
        check_writable(waves)
    waves_format = waves.suffix[1:] if waves else None
    build = _build_verilator if simulator == "verilator" else _build_icarus
    folder = build(verilog, waves_format)

    # Two runs of one bench at the same time each have their own.
    log = cache.directory() / f"{name}-{bench}-{simulator}-{os.getpid()}.log"
    results = log.with_suffix(".xml")
    partial = waves.absolute().with_name(f".{waves.name}.{os.getpid()}") if waves else None
    runner = Verilator() if simulator == "verilator" else _WavyIcarus(waves_format)
    with suppress(RuntimeError, SystemExit):  # how the runner says that tests failed; the results tell which
        runner.test(
            test_module=f"streamjoin.sim.benches.{bench}",
            hdl_toplevel=name,
            hdl_toplevel_lang="verilog",
            build_dir=folder,
            test_dir=Path.cwd(),  # a user's predicate is imported from where the user is
            results_xml=str(results),
            log_file=log,
            seed=seed,
            waves=waves is not None,
            test_args=["--trace-file", str(partial)] if waves and simulator == "verilator" else [],
            plusargs=[f"+dumpfile_path={partial}"] if waves and simulator == "icarus" else [],
            extra_env={
                ENVIRONMENT: json.dumps({"manifest": verilog.manifest, "settings": settings}),
                "COCOTB_REWRITE_ASSERTION_FILES": "",
            },
        )
    if waves is not None and partial is not None and partial.exists():
        partial.replace(waves)  # also when tests failed: that is when waves are wanted
    try:
        return _report(results, log)
    finally:
        results.unlink(missing_ok=True)


def _report(results: Path, log: Path) -> BenchReport:
    try:
        cases = list(ET.parse(results).iter("testcase"))
    except (OSError, ET.ParseError) as error:
        raise ToolError(f"the simulation ended without telling how the tests went: see {log}") from error
    if not cases:
        raise ToolError(f"the bench has no tests that could be found: see {log}")
    outcomes = {case.get("name", ""): {child.tag for child in case} for case in cases}
    failures = tuple(name for name, tags in outcomes.items() if tags & {"failure", "error"})
    skipped = sum("skipped" in tags for tags in outcomes.values())
    return BenchReport(len(cases) - len(failures) - skipped, failures, log)


class _WavyIcarus(Icarus):
    """cocotb's runner, which writes waves in FST only, taught to write VCD as well."""

    def __init__(self, waves_format: str | None):
        super().__init__()
        self._waves_format = waves_format

    def _test_command(self) -> list[list[str]]:
        commands = super()._test_command()
        return [[f"-{self._waves_format}" if word == "-fst" else word for word in command] for command in commands]


def _build_icarus(verilog: Verilog, waves: str | None) -> Path:
    name = verilog.manifest["name"]
    demand("iverilog", "iverilog")
    release = run_tool(["iverilog", "-V"]).partition("\n")[0]

    def build(folder: Path) -> None:
        _write_design(folder, verilog)
        # As SystemVerilog, like cocotb's own runner; by the rules of 2005 it is the same.
        command = ["iverilog", "-g2012", "-o", folder / "sim.vvp", "-s", name, folder / "design.v"]
        if waves:
            (folder / "waves.v").write_text(_DUMP.format(name=name))
            command += ["-s", "waves", folder / "waves.v"]
        run_tool(command)

    return cache.entry(cache.key_of(verilog.text, release, str(bool(waves))), build)


#: The waves of everything below the design, in the file that the command line names.
_DUMP = """module waves;
  reg [8191:0] file;
  initial if ($value$plusargs("dumpfile_path=%s", file)) begin
    $dumpfile(file);
    $dumpvars(0, {name});
  end
endmodule
"""


def _build_verilator(verilog: Verilog, waves: str | None) -> Path:
    name = verilog.manifest["name"]
    command = compiler()
    include, main = verilator_root() / "include", config.share_dir / "lib" / "verilator" / "verilator.cpp"
    formats = [f"-DVM_TRACE={int(bool(waves))}", *(f"-DVM_TRACE_{f.upper()}={int(waves == f)}" for f in ("vcd", "fst"))]
    compile_ = [*command, *_CXX_FLAGS, "-DVM_COVERAGE=0", "-DVM_SC=0", "-DVM_TIMING=0", *formats]
    compile_ += ["-I", include, "-I", include / "vltstd", "-c"]
    release = run_tool([*command, "--version"]).partition("\n")[0]
    versions = ("cocotb", version("verilator"), version("cocotb"), release)
    common = (*versions, str(waves), *command, *_CXX_FLAGS, _OPTIMISED, *_VERILATOR_FLAGS)

    def build_runtime(folder: Path) -> None:
        for source in (*_RUNTIME, *WAVES[waves].sources):
            run_tool([*compile_, _AS_IT_IS, include / source, "-o", (folder / source).with_suffix(".o")])

    def build(folder: Path) -> None:
        runtime = cache.entry(cache.key_of(*common), build_runtime)
        _write_design(folder, verilog)
        (folder / "ports.vlt").write_text(_public_ports(verilog.manifest))
        options = [*_VERILATOR_FLAGS, *WAVES[waves].flags, "--top-module", name, "--Mdir", folder]
        verilate([*options, folder / "ports.vlt", folder / "design.v"])
        # Most of the time of a small file goes into Verilator's headers: one file for all.
        sources = [main, *sorted(folder.glob("Vtop*.cpp"))]
        (folder / "all.cpp").write_text("".join(f'#include "{source}"\n' for source in sources))
        run_tool([*compile_, _OPTIMISED, "-I", folder, folder / "all.cpp", "-o", folder / "all.o"])
        cocotb = [f"-Wl,-rpath,{config.libs_dir}", "-L", config.libs_dir, "-lcocotbvpi_verilator"]
        objects = [folder / "all.o", *sorted(runtime.glob("*.o"))]
        run_tool([*command, "-o", folder / name, *objects, "-pthread", *cocotb, *WAVES[waves].libraries])

    # The program finds cocotb's library where it was linked: that of another environment may be gone.
    return cache.entry(cache.key_of(verilog.text, *common, str(config.libs_dir)), build)


def _write_design(folder: Path, verilog: Verilog) -> None:
    (folder / "design.v").write_text(f"`timescale 1ns/1ns\n{verilog.text}")


def _public_ports(manifest: dict) -> str:
    """Verilator's control file that opens the ports of the top module, and only these, to the bench."""
    access = {"input": "public_flat_rw", "output": "public_flat_rd"}
    lines = [
        f'{access[port["direction"]]} -module "{manifest["name"]}" -var "{port["name"]}"' for port in manifest["ports"]
    ]
    return "\n".join(["`verilator_config", *lines, ""])
