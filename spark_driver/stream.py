"""A stream that survives being killed: lanes of tuples through simulators, results to Parquet, exactly once.

Structured Streaming writes down what a micro-batch is to read before it reads it, the lanes' windows and the batch's
end after it was written; the Parquet sink writes down which files of a batch count. A batch that was under way when
everything was killed is read anew from the same place with the same windows, gives the same results, and only one of
the attempts counts. The output is to be read through Spark, which knows of that; the folder may hold files of attempts
that do not count.
"""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from streamjoin.hdl.base.parameters import JoinParameters
from streamjoin.reference.errors import DesignError
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver.data_source import NAME, TupleSource
from streamjoin.spark_driver.lane_task import STATE, LaneTask, WrongResultError
from streamjoin.spark_driver.shipping import ship_model, ship_package
from streamjoin.spark_driver.sources import to_text

_LOOK_SECONDS = 0.3
_MOST_PARTITIONS = 64


@dataclass(frozen=True)
class Lanes:
    """The input of a stream: ``lanes`` independent inputs of ``tuples`` each, ``batch`` of each in a micro-batch."""

    source: Workload
    tuples: int
    lanes: int = 1
    batch: int = 10_000

    @property
    def total(self) -> int:
        return self.tuples * self.lanes

    def table(self, spark: SparkSession, columns: tuple[str, ...], *, streaming: bool) -> DataFrame:
        """The tuples, as a stream or as a whole."""
        spark.dataSource.register(TupleSource)
        reader = (spark.readStream if streaming else spark.read).format(NAME)
        reader = reader.option("source", to_text(self.source)).option("columns", ",".join(columns))
        return reader.options(tuples=self.tuples, lanes=self.lanes, batch=self.batch).load()


@dataclass(frozen=True)
class Progress:
    """Where a stream stands.

    Attributes
    ----------
    tuples
        Tuples done, over all lanes, whichever run did them.
    batch
        The number of the last micro-batch.
    tuples_per_second
        Of that micro-batch.
    lag_seconds
        How far behind its schedule the stream is; 0 where it has none.
    """

    tuples: int
    batch: int
    tuples_per_second: float
    lag_seconds: float


def columns_of(parameters: JoinParameters) -> tuple[str, ...]:
    """The columns that tuples need."""
    return (*parameters.predicate.fields, *(["time"] if parameters.spans is not None else []))


def run_stream(
    spark: SparkSession,
    folder: Path,
    simulator: Simulator,
    lanes: Lanes,
    output: Path,
    checkpoint: Path,
    *,
    every: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> dict:
    """Join the lanes to their end, from wherever the checkpoint stands; figures of this run.

    Parameters
    ----------
    folder : where to put what is shipped to workers
    every : seconds from one micro-batch to the next; None for one after the other, until all is read
    progress : called now and then
    """
    parameters = simulator.parameters
    started = time.perf_counter()
    ship_package(spark, folder, simulator.design, parameters.predicate)
    task = LaneTask(ship_model(spark, folder, simulator), columns_of(parameters))
    # Lanes are keys of the state; Spark keeps to the number of partitions that a checkpoint began with.
    spark.conf.set("spark.sql.shuffle.partitions", str(min(lanes.lanes, _MOST_PARTITIONS)))
    results = (
        lanes.table(spark, task.columns, streaming=True)
        .groupBy("lane")
        .applyInPandasWithState(task, result_schema(simulator), STATE, "append", "NoTimeout")
    )
    writer = results.writeStream.format("parquet").outputMode("append")
    writer = writer.option("path", address(output)).option("checkpointLocation", address(checkpoint))
    writer = writer.trigger(availableNow=True) if every is None else writer.trigger(processingTime=f"{every} seconds")
    query = writer.start()
    watch = _Watch(query, lanes, every)
    try:
        while query.isActive and not watch.done:
            # Fractions of a second are welcome, which the types do not know.
            query.awaitTermination(_LOOK_SECONDS)  # pyright: ignore[reportArgumentType]
            watch.look()
            if progress is not None and watch.last is not None:
                progress(watch.last)
        query.stop()
        watch.look()
        if (failure := query.exception()) is not None:
            raise failure
    except StreamingQueryException as error:
        if said := re.search(rf"{WrongResultError.__name__}: (.*)", str(error)):
            raise DesignError(said[1]) from error
        raise
    return {"batches": watch.batches, "tuples": watch.tuples, "seconds": time.perf_counter() - started}


def address(folder: Path) -> str:
    """A folder as Spark is told of it: where Spark has another file system of its own, it would take a bare path to be
    one there."""
    return f"file://{folder.absolute()}"


def result_schema(simulator: Simulator) -> str:
    """The columns of results: the lane, the arrival number of each stream's tuple, keys, and the cycle."""
    keys = simulator.run(Workload(streams=len(simulator.parameters.streams)).slice(0, 0), check=False).key_columns
    return ", ".join(["lane int", *(f"{name} bigint" for name in (*simulator.parameters.streams, *keys, "cycle"))])


class _Watch:
    """Follows a query by the progress that it reports."""

    def __init__(self, query: StreamingQuery, lanes: Lanes, every: float | None):
        self._query, self._lanes, self._every = query, lanes, every
        self._seen = -1
        self._started: float | None = None
        self.batches = self.tuples = 0
        self.last: Progress | None = None

    @property
    def done(self) -> bool:
        return self.last is not None and self.last.tuples >= self._lanes.total

    def look(self) -> None:
        for report in self._query.recentProgress:
            number, rows = report["batchId"], report["numInputRows"]
            end = json.loads(report["sources"][0]["endOffset"] or "null")
            if number <= self._seen or not (rows or end):
                continue
            # Without rows there is nothing new, but it is said how far the runs before this one came.
            if rows:
                self._seen = number
                self.batches += 1
                self.tuples += rows
            now = time.monotonic()
            self._started = self._started or now
            lag = 0.0 if self._every is None else now - self._started - (self.batches - 1) * self._every
            done = end["tuples"] * self._lanes.lanes
            self.last = Progress(done, number, report["processedRowsPerSecond"], max(0.0, lag))
