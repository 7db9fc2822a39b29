"""What other tools say of our Verilog: Verilator's lint, Icarus and Yosys, and which of it matters.

Whatever a tool says is a finding, but for the kinds that :mod:`streamjoin.sim.verilog.waivers` names with a reason. The
file carries pragmas for these, which are taken out here: where only some messages of a kind are waived, others count.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from streamjoin.sim.verilog.generate import Verilog
from streamjoin.sim.verilog.waivers import WAIVED, without_pragmas
from streamjoin.support.toolchain import run_tool, verilate

_VERILATOR_WARNING = re.compile(r"^%(Warning-(\w+)|Error[-\w]*): \S+:(\d+):\d+: (.*)$", re.MULTILINE)
_UNROLLED = re.compile(r"Replacing memory \\(\S+) with list of registers\. See .*:(\d+)$")
# Yosys as a library ends the process on an error, so it gets one of its own.
_YOSYS = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for command in sys.argv[1:]:
    design.run_pass(command)
"""


def lint(verilog: Verilog, file: str = "design.v") -> dict[str, list[str]]:
    """What each tool finds in ``file``, which holds this Verilog; an empty list where it is content. Icarus is asked
    only if it is installed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "design.v")
        path.write_text(without_pragmas(verilog.text))
        name = verilog.manifest["name"]
        findings = {"verilator": lint_with_verilator(path, name), "yosys": lint_with_yosys(path, name)}
        if shutil.which("iverilog"):
            findings["icarus"] = lint_with_icarus(path, name)
    return {tool: [finding.replace(str(path), file) for finding in found] for tool, found in findings.items()}


def lint_with_verilator(path: Path, top: str) -> list[str]:
    """All warnings of ``--lint-only -Wall`` but those of no substance."""
    said = verilate(["--lint-only", "-Wall", "-Wno-fatal", "--top-module", top, path])
    return [
        f"{path}:{line}: {kind or 'error'}: {message}"
        for _, kind, line, message in _VERILATOR_WARNING.findall(said)
        if not any(kind == waived and pattern in message for waived, pattern, _ in WAIVED)
    ]


def lint_with_icarus(path: Path, top: str) -> list[str]:
    """All that Icarus has to say in the language of 2005 with all warnings on."""
    with tempfile.TemporaryDirectory() as folder:
        said = run_tool(["iverilog", "-g2005", "-Wall", "-s", top, "-o", Path(folder, "out"), path])
    return said.splitlines()


def lint_with_yosys(path: Path, top: str) -> list[str]:
    """Warnings of Yosys as it reads the design, checks its hierarchy and looks for loops and undriven wires."""
    commands = [f'read_verilog "{path}"', f"hierarchy -check -top {top}", "proc", "check"]
    said = run_tool([sys.executable, "-c", _YOSYS, *commands])
    lines = path.read_text().splitlines()
    return [
        line
        for line in said.splitlines()
        if line.startswith("Warning:") and not ((found := _UNROLLED.search(line)) and _one_word(lines, *found.groups()))
    ]


def _one_word(lines: list[str], memory: str, first: str) -> bool:
    """Whether the memory of this name declared last before line ``first`` has one word: that is a register anyway."""
    declarations = [line for line in lines[: int(first)] if re.search(rf" \\?{re.escape(memory)} +\[.*\];", line)]
    return bool(declarations) and declarations[-1].endswith("[0:0];")
