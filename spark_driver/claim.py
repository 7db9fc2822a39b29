"""A checkpoint belongs to one run: one process at a time, always the same input and design, and one output."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from streamjoin.sim.files import InputError, whole_file
from streamjoin.spark_driver.errors import SparkError

_PATIENCE_SECONDS = 60
_NAME = "streamjoin"


@contextmanager
def claimed(checkpoint: Path, output: Path, run: dict) -> Iterator[int]:
    """Hold a checkpoint for the run that ``run`` describes and that writes to ``output``; gives the descriptor of its
    lock.

    The lock lasts until the last process that has the descriptor is gone: where we are killed and our Java lives on for
    a moment, the next run waits for it. A checkpoint of another run is refused with :exc:`SparkError`.
    """
    try:
        checkpoint.mkdir(parents=True, exist_ok=True)
        lock = os.open(checkpoint / f".{_NAME}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise InputError(f"{checkpoint} cannot be used ({error.strerror}): name a folder that can be") from error
    try:
        _acquire(lock, checkpoint)
        _check(checkpoint / f"{_NAME}.json", output, {**run, "output": str(output)})
        yield lock
    finally:
        os.close(lock)


def _acquire(lock: int, checkpoint: Path) -> None:
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise SparkError(f"another run is using {checkpoint}: wait for it, or name another folder") from None
            time.sleep(0.2)


def _check(path: Path, output: Path, run: dict) -> None:
    """Refuse what Spark would pass over: it skips batches that an output has of another run, and never asks whether
    the output still has those that the checkpoint says are done."""
    run = json.loads(json.dumps(run))
    if not path.exists():
        if any(entry.name != f".{_NAME}.lock" for entry in path.parent.iterdir()):
            raise SparkError(f"{path.parent} is not empty and no checkpoint of ours: name another folder")
        if output.exists() and (not output.is_dir() or any(output.iterdir())):
            raise SparkError(f"{output} is not empty, and its checkpoint is another one: name another folder")
        with whole_file(path) as part:
            part.write_text(json.dumps(run, indent=2) + "\n")
        return
    before = json.loads(path.read_text())
    for name in run.keys() | before.keys():
        if before.get(name) != run.get(name):
            raise SparkError(
                f"{path.parent} belongs to another run: {name} was {before.get(name)}, not {run.get(name)}; "
                "name another folder, or call as before"
            )
    if any((path.parent / "commits").glob("[0-9]*")) and not (output / "_spark_metadata").exists():
        raise SparkError(f"{output} has lost the results of {path.parent}: name other folders for both, and begin anew")
