"""Where the synthesis tools are, which versions they have, and how they are run."""

import functools
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from streamjoin.support.toolchain import ToolError
from streamjoin.synth.flow.targets import Target
from streamjoin.synth.flow.yosys_process import LOG

_GLANCE = 2  # seconds between two looks at what a tool is about
_VERSION = re.compile(r"Version (?:nextpnr-)?([^\s)]+)")


def router(target: Target) -> str | None:
    """The nextpnr for ``target``: a native one on the PATH, else YoWASP's, about three times slower.

    ``None`` where the target knows no place and route; ToolError where there is no such program.
    """
    if not target.router:
        return None
    name = f"nextpnr-{target.router[0]}"
    if program := find_program(name):
        return program
    raise ToolError(f"{name} was not found: install it, or run pip install 'streamjoin[routers]'")


def find_program(name: str) -> str | None:
    """A native program on the PATH, else YoWASP's."""
    packaged = f"yowasp-{name}"
    scripts = sysconfig.get_path("scripts")  # beside this Python, which need not be on the PATH
    return shutil.which(name) or shutil.which(packaged, path=scripts) or shutil.which(packaged)


@functools.cache
def router_version(program: str) -> str:
    """``nextpnr-ecp5 0.11`` of the program at this path."""
    said = run([program, "--version"])
    found = _VERSION.search(said)
    return f"{Path(program).name} {found[1] if found else said.strip()}"


def versions(target: Target) -> dict[str, str]:
    """The versions of the tools that have a say in what a design costs on ``target``."""
    named = {package: version(package) for package in ("amaranth", "pyosys")}
    if program := router(target):
        name, _, number = router_version(program).rpartition(" ")
        named[name] = number
    return named


def yosys(script: Path) -> None:
    """Run Yosys' passes, one a line of ``script``, in its folder and in a process of its own."""
    log = script.with_name(LOG)
    try:
        run([sys.executable, "-m", "streamjoin.synth.flow.yosys_process", script], folder=script.parent, tool="yosys")
    except ToolRunError as failure:
        raise ToolRunError("yosys", log.read_text() if log.exists() else "", failure.ending) from None
    log.unlink()


def run(command: Sequence[str | Path], *, folder: Path | None = None, tool: str = "") -> str:
    """Run one tool and return all that it printed; :exc:`ToolRunError` with that if it fails."""
    with Children() as children:
        return children.run(command, folder=folder, tool=tool)


class Children:
    """Tools that threads of this process run side by side; none outlives the ``with`` block."""

    def __init__(self):
        self._running: set[subprocess.Popen] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def __enter__(self) -> "Children":
        return self

    def __exit__(self, *_) -> None:
        self.stop()

    def run(
        self,
        command: Sequence[str | Path],
        *,
        folder: Path | None = None,
        tool: str = "",
        is_hopeless: Callable[[], bool] | None = None,
    ) -> str:
        """As the function :func:`run`; :exc:`HopelessError` once ``is_hopeless``, asked now and then, says yes."""
        tool = tool or Path(command[0]).name
        with self._lock:
            if self._stopped:
                raise ToolError(f"{tool} was not started: the run has been stopped")
            try:
                child = subprocess.Popen(
                    command,
                    cwd=folder,
                    text=True,
                    errors="replace",
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                )
            except OSError as error:
                raise ToolError(f"{tool} could not be started: {error.strerror}") from error
            self._running.add(child)
        gave_up = False
        with child:
            while True:
                try:
                    output, _ = child.communicate(timeout=_GLANCE if is_hopeless else None)
                    break
                except subprocess.TimeoutExpired:
                    if not gave_up and is_hopeless is not None and is_hopeless():
                        child.kill()
                        gave_up = True
        with self._lock:
            self._running.discard(child)
        if gave_up:
            raise HopelessError(f"{tool} made no more progress")
        if child.returncode:
            raise ToolRunError(tool, output, _ending(child.returncode))
        return output

    def stop(self) -> None:
        """End all that still run, and start no others."""
        with self._lock:
            self._stopped = True
            for child in self._running:
                child.kill()


class HopelessError(ToolError):
    """A tool was ended because it would not have come to an end."""


class ToolRunError(ToolError):
    """A tool ended with an error; ``output`` is what it printed, ``ending`` how it ended."""

    def __init__(self, tool: str, output: str, ending: str):
        self.output = output
        self.ending = ending
        errors = [line.strip() for line in output.splitlines() if "ERROR" in line]
        super().__init__(f"{tool} failed: {errors[0] if errors else ending}")


def _ending(status: int) -> str:
    return f"exit status {status}" if status > 0 else f"ended by {signal.Signals(-status).name}"
