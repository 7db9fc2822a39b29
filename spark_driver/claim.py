"""A stream's two folders belong to one run: to one process at a time, and always to the same input and design.

Spark would mix streams without a word: its sink passes over every batch whose number the output has, whoever wrote it,
and nobody asks whether the output still has the batches that the checkpoint calls done. So, before Spark is started,

- the checkpoint keeps a *record*: a name, drawn at random; its output; and what decides results and cycles;
- the output keeps the name of its *owner*, the one checkpoint whose results it takes.

Both are written once, synced, and never changed. The record comes first: whoever is killed between the two leaves an
output that is nobody's, and claims it when called again. An owner is known by name, not by path, so a checkpoint can be
moved, and every way to an output leads to the same owner. An output cannot be moved, for Spark keeps its files' paths.
A copy of a checkpoint does no harm: it gives the same batches. Locks keep the two from running at once.
"""

import fcntl
import json
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from streamjoin.reference.wording import printable
from streamjoin.spark_driver.errors import SparkError
from streamjoin.spark_driver.run_identity import first_difference
from streamjoin.support.files import InputError

_PATIENCE_SECONDS = 60
_LONGEST = 75  # characters of a path in a sentence
_OURS = ".streamjoin"  # how the names of locks and of unfinished files begin
_RECORD, _OWNER = "streamjoin.json", "_streamjoin.json"  # readers of Parquet pass over what begins with an underscore
_ANEW = "name two other folders, and begin anew"


@contextmanager
def claimed(checkpoint: Path, output: Path, run: dict) -> Iterator[tuple[int, int]]:
    """Hold both folders for the run that ``run`` describes; gives the descriptors of their locks.

    The locks last until the last process that has the descriptors is gone: where we are killed and our Java lives on
    for a moment, the next run waits for it. Folders of another run are refused with :exc:`SparkError`; so is, in the
    end, an output that has been taken away from us or lost results while we ran.
    """
    checkpoint, output = real(checkpoint), real(output)
    if checkpoint.is_relative_to(output) or output.is_relative_to(checkpoint):
        raise SparkError(f"{_short(output)} and {_short(checkpoint)} lie in each other: name two folders that do not")
    with _locked(checkpoint) as first:
        name = _recorded(checkpoint, output, run)
        while not _is_owner(name, checkpoint, output):
            if _last_batch(checkpoint / "commits") >= 0:
                raise _lost(checkpoint, output)
            _create(output / _OWNER, {"name": name, "checkpoint": str(checkpoint)})
        with _locked(output) as second:
            _check_results(checkpoint, output)
            yield first, second
            if not _is_owner(name, checkpoint, output):
                raise _lost(checkpoint, output)
            _check_results(checkpoint, output)


def real(folder: Path) -> Path:
    """The folder's path without links: what Spark is told, so that it takes the folder that was claimed."""
    return Path(os.path.realpath(folder))


def _recorded(checkpoint: Path, output: Path, run: dict) -> str:
    """The name of a checkpoint of this run; a new one gets its record."""
    now = json.loads(json.dumps({"output": str(output), "run": run}))
    record = _read(checkpoint / _RECORD, name=str, output=str, run=dict)
    if record is None:
        if _has_files(checkpoint):
            raise SparkError(f"{_short(checkpoint)} is not empty and no checkpoint of ours: name another folder")
        name = uuid.uuid4().hex
        _is_owner(name, checkpoint, output)  # refuses an output that is not free
        _create(checkpoint / _RECORD, {"name": name, **now})
        return name
    name = record.pop("name")
    if difference := first_difference(record, now):
        raise SparkError(f"{_short(checkpoint)} belongs to another run: {difference}; run it as it was, or {_ANEW}")
    return name


def _is_owner(name: str, checkpoint: Path, output: Path) -> bool:
    """Whether the output is that of the checkpoint of this name; False if it is nobody's, and SparkError otherwise."""
    has_files = _has_files(output)  # asked first: the owner of files was there before them
    owner = _read(output / _OWNER, name=str, checkpoint=str)
    if owner is None:
        if has_files:
            raise SparkError(f"{_short(output)} is not empty, and nothing in it says whose it is: name another output")
        return False
    if owner["name"] == name:
        return True
    its = Path(owner["checkpoint"])
    with _usable(its):
        gone = its == checkpoint or not (its / _RECORD).exists()
    if gone:
        raise SparkError(
            f"{_short(output)} belongs to a checkpoint that is no longer at {_short(its)}: name another output, or "
            "remove this one to begin anew"
        )
    raise SparkError(
        f"{_short(output)} belongs to the checkpoint {_short(its)}, not to {_short(checkpoint)}: name another output"
    )


def _check_results(checkpoint: Path, output: Path) -> None:
    """Refuse an output that lacks a batch of those that the checkpoint calls done."""
    if _last_batch(checkpoint / "commits") > _last_batch(output / "_spark_metadata"):
        raise _lost(checkpoint, output)


def _lost(checkpoint: Path, output: Path) -> SparkError:
    return SparkError(f"{_short(output)} has lost the results of {_short(checkpoint)}: {_ANEW}")


def _last_batch(log: Path) -> int:
    """The number of the last batch in one of Spark's logs, a file a batch; -1 if there is none."""
    with _usable(log):
        names = [entry.name.partition(".")[0] for entry in log.iterdir()] if log.exists() else []
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def _has_files(folder: Path) -> bool:
    with _usable(folder):
        return folder.exists() and any(not entry.name.startswith(_OURS) for entry in folder.iterdir())


def _read(path: Path, **shape: type) -> dict | None:
    """The values of a file of ours, None where there is none; SparkError if it has not got this shape."""
    with _usable(path.parent):
        if not path.exists():
            return None
        content = path.read_bytes()
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict) or any(not isinstance(values.get(name), kind) for name, kind in shape.items()):
        raise SparkError(f"{_short(path)} is damaged, or of another release: {_ANEW}")
    return {name: values[name] for name in shape}


def _create(path: Path, values: dict) -> None:
    """Write a file of ours, whole and synced, unless there is one: whoever asks next is told by what it says."""
    part = path.with_name(f"{_OURS}-{uuid.uuid4().hex[:8]}")
    with _usable(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("x") as file:
                file.write(json.dumps(values, indent=2) + "\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                path.hardlink_to(part)
        finally:
            part.unlink(missing_ok=True)
    for folder in (path.parent, path.parent.parent):
        with suppress(OSError):  # not every file system syncs folders
            descriptor = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)


@contextmanager
def _locked(folder: Path) -> Iterator[int]:
    """Hold a folder, and wait for a while if somebody else does; gives the descriptor of the lock."""
    with _usable(folder):
        folder.mkdir(parents=True, exist_ok=True)
        lock = os.open(folder / f"{_OURS}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        with _usable(folder):
            _acquire(lock, folder)
        yield lock
    finally:
        os.close(lock)


def _acquire(lock: int, folder: Path) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise SparkError(
                    f"another run is using {_short(folder)}: wait for it, or name another folder"
                ) from None
            time.sleep(0.2)


@contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """Turn what a file system refuses into one sentence."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{_short(folder)} cannot be used ({error.strerror}): name a folder that can be") from error


def _short(path: Path) -> str:
    """A path as sentences with three of them show it."""
    return printable(str(path), _LONGEST)
