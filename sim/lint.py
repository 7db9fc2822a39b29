"""What other tools say of our Verilog: Verilator's lint, Icarus and Yosys, and which of it matters.

Generated Verilog draws warnings that warn of a habit of people, not of a fault. :data:`WAIVED` names each such kind
with its reason; whatever else a tool says is a finding.
"""

import re
import shutil
import sys
import tempfile
from pathlib import Path

from streamjoin.sim.toolchain import run_tool, verilate
from streamjoin.sim.verilog import Verilog

#: Verilator's warnings of no substance: kind, what the message must say, and why it does not matter.
WAIVED = (
    ("DECLFILENAME", "", "a design is one file, whatever its modules are called"),
    ("PROCASSINIT", "", "registers have the start value that an FPGA gives them, besides their reset"),
    ("UNUSEDSIGNAL", "", "a carry, or an output of a part, that nobody needs; synthesis removes it"),
    (
        "CASEINCOMPLETE",
        "",
        "every block gives its outputs a value before the case; a latch would be reported by itself",
    ),
    ("WIDTHEXPAND", "Operator ", "a narrow operand is extended by its own sign or zeros, which is meant"),
    ("WIDTHTRUNC", "Logical operator LOGNOT", "'!' of a vector asks whether it is zero"),
    ("WIDTHTRUNC", "SHIFTR generates", "a bit picked by an index is the last bit of a shifted vector"),
)
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


def lint(verilog: Verilog) -> dict[str, list[str]]:
    """What each tool finds; an empty list where it is content. Icarus is asked only if it is installed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "design.v")
        path.write_text(verilog.text)
        name = verilog.manifest["name"]
        findings = {"verilator": lint_with_verilator(path, name), "yosys": lint_with_yosys(path, name)}
        if shutil.which("iverilog"):
            findings["icarus"] = lint_with_icarus(path, name)
    return findings


def lint_with_verilator(path: Path, top: str) -> list[str]:
    """All warnings of ``--lint-only -Wall`` but those of no substance."""
    said = verilate(["--lint-only", "-Wall", "-Wno-fatal", "--top-module", top, path])
    return [
        f"line {line}: {kind or 'error'}: {message}"
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
