"""Tuples as a Spark data source: ``spark.read.format("streamjoin")``, and ``spark.readStream`` likewise.

Rows are ``lane`` (there may be several independent inputs), ``seq`` (the arrival number in the lane), ``stream`` (from
0), ``key``, and ``key2`` and ``time`` where asked for.

Options
-------
tuples : how many, of each lane; needed
source : from `sources.to_text`; without it, the fields of `Workload` are options of their own: ``seed``,
    ``match_rate``, ``keys``, …
lanes : how many (1)
columns : of key, key2 and time those to give, with commas between (``key``)
partition : tuples of a partition (1,000,000); in streaming a lane is a partition
batch : in streaming, tuples of each lane in a micro-batch (10,000), whatever the trigger

A micro-batch is as large as the option says and no larger, so its borders do not depend on when it was run: a query
that is killed and started anew cuts the input as one that was not.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow

from streamjoin.reference.predicates import parse_predicate
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver.sources import Source, from_text, lane_of, record_batch

NAME = "streamjoin"
_ROWS = 1 << 16  # of a record batch


class TupleSource(DataSource):
    """The data source; see above for its options."""

    @classmethod
    def name(cls) -> str:
        return NAME

    def schema(self) -> str:
        columns = [f"{name} bigint" for name in _Plan.read(self.options).columns]
        return ", ".join(["lane int", "seq bigint", "stream int", *columns])

    def reader(self, schema) -> DataSourceReader:
        return _BatchReader(_Plan.read(self.options))

    def streamReader(self, schema) -> DataSourceStreamReader:
        return _StreamReader(_Plan.read(self.options))


@dataclass(frozen=True)
class _Plan:
    """What the options say."""

    source: Source
    tuples: int
    lanes: int
    columns: tuple[str, ...]
    partition: int
    batch: int

    @classmethod
    def read(cls, options: Mapping[str, str]) -> "_Plan":
        if "tuples" not in options:
            raise ValueError("the data source streamjoin needs the option tuples: say how many")
        return cls(
            source=from_text(options["source"]) if "source" in options else _workload(options),
            tuples=int(options["tuples"]),
            lanes=int(options.get("lanes", "1")),
            columns=tuple(options.get("columns", "key").split(",")),
            partition=int(options.get("partition", "1000000")),
            batch=int(options.get("batch", "10000")),
        )


def _workload(options: Mapping[str, str]) -> Workload:
    as_text = {"predicate": parse_predicate, "match_rate": float, "arrivals": str, "keys": str}
    given = [field.name for field in fields(Workload) if field.name in options]
    return Workload(**{name: as_text.get(name, int)(options[name]) for name in given})


@dataclass
class _Part(InputPartition):
    """Tuples [start, stop) of a lane."""

    lane: int
    start: int
    stop: int


@dataclass
class _BatchReader(DataSourceReader):
    plan: _Plan

    def partitions(self) -> Sequence[InputPartition]:
        plan = self.plan
        starts = range(0, plan.tuples, plan.partition) or [0]
        return [
            _Part(lane, start, min(start + plan.partition, plan.tuples))
            for lane in range(plan.lanes)
            for start in starts
        ]

    def read(self, partition: _Part) -> Iterator[pa.RecordBatch]:
        return _batches(self.plan, partition)


@dataclass
class _StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The offset is how many tuples of each lane have been read."""

    plan: _Plan

    def initialOffset(self) -> dict:
        return {"tuples": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self.plan.batch * self.plan.lanes)

    def prepareForTriggerAvailableNow(self) -> None:
        """There is nothing to note: the end has been known from the beginning."""

    def latestOffset(self, start: dict, limit: ReadLimit) -> dict:
        return {"tuples": min(start["tuples"] + self.plan.batch, self.plan.tuples)}

    def reportLatestOffset(self) -> dict:
        return {"tuples": self.plan.tuples}

    def partitions(self, start: dict, end: dict) -> Sequence[InputPartition]:
        if start == end:
            return []
        return [_Part(lane, start["tuples"], end["tuples"]) for lane in range(self.plan.lanes)]

    def read(self, partition: _Part) -> Iterator[pa.RecordBatch]:
        return _batches(self.plan, partition)


def _batches(plan: _Plan, part: _Part) -> Iterator[pa.RecordBatch]:
    source = plan.source
    if part.lane:
        assert isinstance(source, Workload)  # what is stored is one lane
        source = lane_of(source, part.lane)
    for start in range(part.start, part.stop, _ROWS):
        arrivals = source.slice(start, min(start + _ROWS, part.stop))
        yield record_batch(arrivals, part.lane, start, plan.columns)
