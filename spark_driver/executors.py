"""The processes of a cluster that do our work: how many there are, and what if there are none.

Spark waits without a word and without end for a cluster that has no worker for us, at the start or because the last one
was lost. We wait for a while, and then say so.
"""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException

from streamjoin.spark_driver.errors import SparkError

_PATIENCE_SECONDS = 60
_START_SECONDS = 20
_QUIET_SECONDS = 1
_LOOK_SECONDS = 0.5


@contextmanager
def expecting_executors(context: SparkContext) -> Iterator[None]:
    """Wait for executors, and while the block lasts, give work up with :exc:`SparkError` that nobody has been there to
    do for a minute. Where Spark runs in one process, there is nobody to wait for."""
    if re.match(r"local(\[|$)", context.master or ""):
        yield
        return
    over, given_up = threading.Event(), threading.Event()

    def look() -> None:
        last = time.monotonic()
        # Where Java is gone, the block itself says so.
        with suppress(Py4JError, OSError):
            while not over.wait(_LOOK_SECONDS):
                if _count(context) or not context.statusTracker().getActiveStageIds():
                    last = time.monotonic()
                elif time.monotonic() - last > _PATIENCE_SECONDS:
                    given_up.set()
                    context.cancelAllJobs()
                    return

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        _await(context)
        yield
    except (PySparkException, Py4JError) as error:
        if given_up.is_set():
            raise SparkError(
                f"the master {context.master} has had no worker for us for {_PATIENCE_SECONDS} s: "
                "start one, or wait until one is free"
            ) from error
        raise
    finally:
        over.set()
        watcher.join()


def _count(context: SparkContext) -> int:
    """How many there are now."""
    java: Any = context._jsc
    return java.sc().getExecutorMemoryStatus().size() - 1  # the driver is listed with them


def _await(context: SparkContext) -> None:
    """Give the executors that start with us time to come: into how many parts a run is cut depends on them."""
    if context.getConf().get("spark.dynamicAllocation.enabled", "false") == "true":
        return  # they come when there is work
    started = changed = time.monotonic()
    seen = 0
    while (now := time.monotonic()) - started < _START_SECONDS and not (seen and now - changed > _QUIET_SECONDS):
        if (count := _count(context)) != seen:
            seen, changed = count, now
        time.sleep(_LOOK_SECONDS)
