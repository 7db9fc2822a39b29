"""A board's project on disk: written whole, and built where its tools are."""

import json
import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

from streamjoin.sim.verilog.generate import Verilog
from streamjoin.support.files import InputError
from streamjoin.support.toolchain import ToolError
from streamjoin.synth.board.boards import Board, BoardError
from streamjoin.synth.board.tools import Plan, missing_tools, run_build, yosys_in_environment
from streamjoin.synth.board.top import BoardTop, lights_of
from streamjoin.synth.board.vendor_scripts import finish

#: The project's name, and its record, by which we know a folder as ours.
NAME, RECORD = "streamjoin", "board.json"
_REPORT = "report.json"
# nextpnr's other router for ECP5 takes many times as long.
_OVERRIDES = {
    "Trellis": {"nextpnr_opts": f"--router router2 --report {_REPORT}", "ecppack_opts": "--compress"},
    "IceStorm": {"nextpnr_opts": f"--report {_REPORT}"},
}
_BITSTREAMS = (".bit", ".bin", ".sof", ".rbf", ".fs")


@dataclass(frozen=True)
class Project:
    """A project that has been written.

    ``lights`` tells what they will say; ``missing`` are tools of the build script that are not here; ``bitstreams`` are
    the files to load into the board, none if it has not been built; ``fmax_mhz`` is what place and route promises,
    where it told.
    """

    folder: Path
    toolchain: str
    lights: str
    files: tuple[str, ...]
    missing: tuple[str, ...]
    bitstreams: tuple[str, ...]
    fmax_mhz: float | None
    build_seconds: float | None


def write_project(
    board: Board, verilog: Verilog, folder: Path, *, toolchain: str | None = None, build: bool | None = None
) -> Project:
    """Write the project of a self-test for ``board`` into ``folder``, and run its build script if told to.

    ``verilog`` is that of a :class:`streamjoin.hdl.board.self_test.SelfTest`. With ``build=None`` it is built if all
    tools are here. The folder appears when all is done; one that is there already is replaced only if we wrote it.
    ToolError if a tool is missing or fails: then nothing is written.
    """
    board.check()
    platform = board.platform(toolchain)
    _check_ours(folder)
    with _whole_folder(folder) as part, tempfile.TemporaryDirectory() as programs:
        with yosys_in_environment(Path(programs)):
            plan = _plan(board, platform, verilog)
        missing = missing_tools(plan)
        if build and missing:
            raise ToolError(f"{missing[0]} was not found: install it, or write the project alone with --no-build")
        plan.extract(part)
        (part / f"{verilog.manifest['name']}.json").write_text(json.dumps(verilog.manifest, indent=2) + "\n")
        builds = build or (build is None and not missing)
        seconds = run_build(plan, part, Path(programs)) if builds else None
        files = {RECORD, *(str(path.relative_to(part)) for path in part.rglob("*") if path.is_file())}
        project = Project(
            folder=folder,
            toolchain=platform.toolchain,
            lights=lights_of(platform)[1],
            files=tuple(sorted(files)),
            missing=tuple(missing),
            bitstreams=tuple(sorted(name for name in files if name.endswith(_BITSTREAMS))),
            fmax_mhz=_fmax(part / _REPORT),
            build_seconds=seconds,
        )
        record = {
            "board": board.name,
            "device": board.device,
            "toolchain": platform.toolchain,
            "clock_mhz": board.clock_mhz,
            "lights": project.lights,
            "self_test": verilog.manifest["name"],
            "bitstreams": project.bitstreams,
            "fmax_mhz": project.fmax_mhz,
        }
        (part / RECORD).write_text(json.dumps(record, indent=2) + "\n")
    return project


def _plan(board: Board, platform: Any, verilog: Verilog) -> Plan:
    """The project's files, before they are on disk."""
    said = StringIO()
    try:
        with redirect_stdout(said), redirect_stderr(said):
            overrides = _OVERRIDES.get(platform.toolchain, {})
            plan = platform.prepare(BoardTop(verilog), NAME, emit_src=False, **overrides)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        # How platforms tell that a toolchain does not know their device, each in its own way.
        why = said.getvalue().strip() or f"{type(error).__name__} {error}"
        others = [name for name in board.toolchains if name != platform.toolchain] or ["another board"]
        raise BoardError(
            f"{board.name} cannot be built with {platform.toolchain} ({why}): take {' or '.join(others)}"
        ) from error
    finish(plan, platform.toolchain, NAME, f"{verilog.manifest['name']}.v")
    return plan


def _fmax(report: Path) -> float | None:
    """The slowest clock's, of nextpnr's report."""
    if not report.exists():
        return None
    clocks = json.loads(report.read_text()).get("fmax", {})
    return min((clock["achieved"] for clock in clocks.values()), default=None)


def _check_ours(folder: Path) -> None:
    if folder.exists() and not (folder.is_dir() and ((folder / RECORD).exists() or not any(folder.iterdir()))):
        raise InputError(f"{folder} is there and is no board project: name a new folder")


@contextmanager
def _whole_folder(folder: Path) -> Iterator[Path]:
    """A folder beside ``folder`` to write to; it takes its place on success and is gone on failure."""
    target = folder.resolve()
    part = target.with_name(f".{target.name}-{uuid.uuid4().hex[:8]}")
    old = part.with_name(f"{part.name}-old")
    try:
        part.mkdir()
    except OSError as error:
        raise InputError(f"{folder} cannot be written ({error.strerror}): name a directory that can be") from error
    try:
        yield part
        if target.exists():
            target.rename(old)
        part.rename(target)
    finally:
        if old.exists() and not target.exists():
            old.rename(target)
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
