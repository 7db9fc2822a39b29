"""The tools that a board's build script calls: where they are, and how the script is run."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from streamjoin.support.toolchain import ToolError
from streamjoin.synth.flow.tools import find_program

# In Amaranth's scripts: which program a variable stands for, and where one is called.
_DEFAULT = re.compile(r"^: \$\{(\w+):=(\S+)\}$", re.MULTILINE)
_CALL = re.compile(r'^"\$(\w+)"', re.MULTILINE)


class Plan(Protocol):
    """What Amaranth's platforms prepare, as far as we look at it."""

    files: dict[str, str]
    script: str

    def extract(self, root: Path) -> object: ...


def missing_tools(plan: Plan) -> list[str]:
    """The programs that the build script calls and that are nowhere to be found."""
    script = plan.files[f"{plan.script}.sh"]
    if any(name in os.environ for name in re.findall(r"AMARANTH_ENV_\w+", script)):
        return []  # a script of the vendor's brings them, and nobody knows before
    names, called = dict(_DEFAULT.findall(script)), dict.fromkeys(_CALL.findall(script))
    return [names[variable] for variable in called if find_tool(variable, names[variable]) is None]


def find_tool(variable: str, name: str) -> str | None:
    """The program that ``$variable`` names, else a native one, else YoWASP's; of Yosys, our library: this Python.

    A Yosys on the path may be years older than what Amaranth and its platforms ask for; ours is not.
    """
    if name == "yosys" and variable not in os.environ:
        return sys.executable
    return shutil.which(os.environ.get(variable, name)) or find_program(name)


@contextmanager
def yosys_in_environment(folder: Path) -> Iterator[None]:
    """While it lasts, ``$YOSYS`` names a Yosys that works, for Amaranth to translate with; ``folder`` may hold it."""
    values = {"YOSYS": _program("YOSYS", "yosys", folder), "AMARANTH_USE_YOSYS": "system"}
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def run_build(plan: Plan, project: Path, programs: Path) -> float:
    """Run the build script in the project's folder as any user would; how many seconds it took.

    ``programs`` is a folder for what the script needs besides. ToolError with the first complaint if it fails.
    """
    tools = {
        variable: program
        for variable, name in _DEFAULT.findall(plan.files[f"{plan.script}.sh"])
        if (program := _program(variable, name, programs))
    }
    started = time.perf_counter()
    log = project / "build.log"
    with log.open("w") as output:
        # In a session of its own, so that an interrupt ends the script's children, too.
        child = subprocess.Popen(
            ["sh", f"{plan.script}.sh"],
            cwd=project,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **tools},
            start_new_session=True,
        )
        try:
            child.wait()
        except BaseException:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise
    if child.returncode:
        lines = log.read_text(errors="replace").splitlines() or ["it said nothing"]
        error = next((line for line in lines if re.search("error", line, re.IGNORECASE)), lines[-1])
        raise ToolError(f"the build failed: {error.strip()}")
    return time.perf_counter() - started


def _program(variable: str, name: str, folder: Path) -> str | None:
    """As :func:`find_tool`, with a program in ``folder`` that makes a Yosys of our library."""
    found = find_tool(variable, name)
    if found != sys.executable:
        return found
    wrapper = folder / "yosys"
    wrapper.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m streamjoin.synth.flow.yosys_program "$@"\n')
    wrapper.chmod(0o700)
    return str(wrapper)
