"""Processor time of a command and of all that it leaves behind.

It is that of the whole machine, on which nothing else should run: Spark's daemon does not wait for its workers, so that
nobody is told what they took.
"""

import ctypes
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

_SET_CHILD_SUBREAPER = 36


class Spent(NamedTuple):
    """Seconds on the wall, and of processor time over all processors."""

    wall: float
    cpu: float


def spent_by(work: Callable[[], dict]) -> tuple[dict, Spent]:
    """What ``work`` gives, and what it took, all processes included that it started: it is waited for their end."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before, started = _busy_seconds(), time.perf_counter()
    given = work()
    wall = time.perf_counter() - started
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return given, Spent(wall, _busy_seconds() - before)


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


def _busy_seconds() -> float:
    """How long all processors together have not been idle."""
    user, nice, system, _idle, _waiting, *interrupts = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:8]
    return sum(map(int, (user, nice, system, *interrupts))) / os.sysconf("SC_CLK_TCK")
