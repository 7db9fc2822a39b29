"""Jobs of a sweep in processes of their own: one that crashes, hangs or is killed takes nothing else with it."""

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import ForkServerProcess

from streamjoin.support.own_code import own_code
from streamjoin.synth.sweep.jobs import Job, PointError, outcomes
from streamjoin.synth.sweep.store import Store

_GLANCE = 0.5  # seconds between two looks at what has been finished


@dataclass(frozen=True)
class Task:
    """A job, and those of its parts that are not done yet."""

    job: Job
    parts: list[dict]


def run_tasks(
    tasks: Iterable[Task],
    store: Store,
    *,
    processes: int,
    timeout: float | None = None,
    progress: Callable[[], None] = lambda: None,
) -> None:
    """Run all tasks, so many at a time; each process stores its outcomes itself. ``timeout`` is in seconds a task.

    A process that dies or runs out of time leaves a failure for each part that it owes. Whatever ends this call ends
    the processes, too, and the tools that they have started.
    """
    waiting, running = deque(tasks), {}
    # New processes come from one clean server that has our modules and the designs' loaded: quick, without our threads,
    # and all with the code as it was when the sweep began, whatever is edited meanwhile. Only plots are left out: they
    # load slowly.
    context = multiprocessing.get_context("forkserver")
    designs = own_code({module for task in waiting for module in task.job.point.design.sources})
    loaded = (name for name in sys.modules if name in designs or name.startswith("streamjoin."))
    context.set_forkserver_preload([name for name in loaded if not name.startswith("streamjoin.report")])
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                task = waiting.popleft()
                process = context.Process(target=_work, args=(task, store))
                process.start()
                running[process] = task, time.monotonic()
            wait([process.sentinel for process in running], _GLANCE)
            for process, (task, started) in list(running.items()):
                late = timeout is not None and time.monotonic() - started > timeout
                if late:
                    _kill(process)
                if late or not process.is_alive():
                    process.join()
                    del running[process]
                    _settle(task, store, _obituary(process, timeout if late else None))
            progress()
    finally:
        for process in running:
            _kill(process)
            process.join()


def _work(task: Task, store: Store) -> None:
    os.setsid()  # so that the tools we start can be ended with us
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for part, outcome in outcomes(task.job, task.parts):
        store.save(part, outcome)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None  # we are a child
    parent.join()
    os.killpg(0, signal.SIGKILL)


def _kill(process: ForkServerProcess) -> None:
    with contextlib.suppress(ProcessLookupError):
        if process.pid is not None and os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()


def _obituary(process: ForkServerProcess, timeout: float | None) -> PointError:
    if timeout is not None:
        return PointError("timeout", f"not done within {timeout / 60:g} minutes: raise --timeout", passing=True)
    if process.exitcode == -signal.SIGKILL:
        return PointError("died", "its process was killed, perhaps for want of memory: lower --jobs", passing=True)
    assert process.exitcode is not None  # it has ended
    how = f"signal {-process.exitcode}" if process.exitcode < 0 else f"exit status {process.exitcode}"
    return PointError("died", f"its process ended with {how}: run the same command to try again", passing=True)


def _settle(task: Task, store: Store, error: PointError) -> None:
    """What the process still owes is a failure."""
    for part in task.parts:
        if not store.has(part):
            store.save(part, error.as_outcome())
