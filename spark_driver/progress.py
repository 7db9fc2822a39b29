"""How far Spark is, seen from another thread."""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

_SECONDS = 0.3


@contextmanager
def watched(spark: SparkSession, progress: Callable[[int, int], None] | None) -> Iterator[None]:
    """While the block lasts, call ``progress`` with how many tasks of the block's jobs are done, and of how many."""
    if progress is None:
        yield
        return
    context, group, over = spark.sparkContext, f"streamjoin-{uuid.uuid4().hex[:8]}", threading.Event()

    def look() -> None:
        tracker = context.statusTracker()
        done: dict[int, tuple[int, int]] = {}
        while not over.wait(_SECONDS):
            for job in tracker.getJobIdsForGroup(group):
                info = tracker.getJobInfo(job)
                stages = [tracker.getStageInfo(stage) for stage in (info.stageIds if info else ())]
                done |= {stage.stageId: (stage.numCompletedTasks, stage.numTasks) for stage in stages if stage}
            progress(*map(sum, zip(*done.values(), strict=True))) if done else None

    context.setJobGroup(group, "streamjoin")
    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        # None takes it away, which the types do not know.
        context.setLocalProperty("spark.jobGroup.id", None)  # pyright: ignore[reportArgumentType]
