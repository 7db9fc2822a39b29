"""Processor time of a command and of all that it leaves behind."""

import ctypes
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

_SET_CHILD_SUBREAPER = 36


class Spent(NamedTuple):
    """Seconds on the wall, and of processor time over all processes."""

    wall: float
    cpu: float


def spent_by(work: Callable[[], dict]) -> tuple[dict, Spent]:
    """What ``work`` gives, and what it took, all processes included that it started: it is waited for their end."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before, started = _children(), time.perf_counter()
    given = work()
    wall = time.perf_counter() - started
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return given, Spent(wall, _children() - before)


def command(*words: object, **environment: str) -> dict:
    """Run ``streamjoin`` with these words and ``--json -``; what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "streamjoin.cli.main", *map(str, words), "--json", "-"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, **environment},
    )
    return json.loads(done.stdout)


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
