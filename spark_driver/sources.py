"""Where tuples come from, so that any worker can have any part of them.

Generated ones are made where they are needed; those of a file are checked here, stored column by column and shipped,
and a worker reads the rows that it is asked for. A source has ``slice``, as segments want it, and can be written as
text, for Spark's data sources know nothing but text.
"""

import dataclasses
import json
import uuid
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from pyspark import SparkFiles
from pyspark.sql import SparkSession

from streamjoin.reference.arrivals import Arrivals
from streamjoin.reference.predicates import parse_predicate
from streamjoin.sim.tuples.tables import open_parquet, write_parquet
from streamjoin.sim.tuples.workload import Workload

_GROUP_ROWS = 1 << 17
_LANE_STEP = 0xD1342543DE82EF95  # odd, so that no two lanes have the same seed, and far from what people type
_COLUMNS = ("stream", "key", "key2", "time")


@dataclasses.dataclass(frozen=True)
class Stored:
    """The tuples of a shipped file, by its name."""

    name: str

    def slice(self, start: int, stop: int) -> Arrivals:
        """Arrivals [start, stop), or fewer where the file ends."""
        file = _opened(self.name)
        stop = min(stop, file.metadata.num_rows)
        start = min(start, stop)
        groups = range(start // _GROUP_ROWS, -(-stop // _GROUP_ROWS))
        table = file.read_row_groups([group for group in groups if group < file.num_row_groups])
        table = table.slice(start - groups.start * _GROUP_ROWS, stop - start)
        return Arrivals(**{name: table[name].to_numpy() for name in table.column_names})


@lru_cache(maxsize=8)
def _opened(name: str) -> parquet.ParquetFile:
    return open_parquet(SparkFiles.get(name))


Source = Workload | Stored


def ship_arrivals(spark: SparkSession, folder: Path, arrivals: Arrivals) -> Stored:
    """Store tuples and send them to the workers."""
    path = folder / f"tuples-{uuid.uuid4().hex[:16]}.parquet"
    columns = {name: getattr(arrivals, name) for name in _COLUMNS if getattr(arrivals, name) is not None}
    write_parquet(pa.table(columns), path, row_group_size=_GROUP_ROWS)
    spark.sparkContext.addFile(str(path))
    return Stored(path.name)


def to_text(source: Source) -> str:
    """A source as JSON."""
    values = dataclasses.asdict(source)
    if isinstance(source, Workload):
        values["predicate"] = source.predicate.spec
    return json.dumps({type(source).__name__: values})


def from_text(text: str) -> Source:
    """What `to_text` wrote."""
    ((kind, values),) = json.loads(text).items()
    if kind == "Stored":
        return Stored(**values)
    return Workload(**{**values, "predicate": parse_predicate(values["predicate"])})


def lane_of(source: Workload, lane: int) -> Workload:
    """The tuples of one of several independent lanes; lane 0 is the source itself."""
    return dataclasses.replace(source, seed=(source.seed + lane * _LANE_STEP) % 2**64)


def record_batch(arrivals: Arrivals, lane: int, first: int, names: tuple[str, ...]) -> pa.RecordBatch:
    """Tuples as Spark gets them: ``lane``, ``seq`` from ``first`` on, ``stream``, and the columns of these names."""
    size = len(arrivals)
    columns = {
        "lane": np.full(size, lane, np.int32),
        "seq": np.arange(first, first + size),
        "stream": arrivals.stream.astype(np.int32),
    }
    return pa.RecordBatch.from_pydict(columns | {name: getattr(arrivals, name) for name in names})
