"""What Spark SQL's own join says of the results of a run."""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from streamjoin.hdl.base.parameters import JoinParameters
from streamjoin.reference.arrivals import Windows
from streamjoin.spark_driver.checksum import Checksum
from streamjoin.spark_driver.data_source import NAME, TupleSource
from streamjoin.spark_driver.oracle import Oracle
from streamjoin.spark_driver.segment_task import RowsTask, SegmentTask
from streamjoin.spark_driver.sources import to_text

_PARTITION = 1 << 17  # tuples
_SHOWN = 3


def second_opinion(
    spark: SparkSession, task: SegmentTask, reports: list[dict], parameters: JoinParameters
) -> tuple[str | dict, list[str]]:
    """Whether Spark SQL agrees with the counts and checksums that tasks reported, and with what they say is missing by
    overflow: "exact", or how much differs, and sentences on that. Where something differs, the first segment is
    compared row by row."""
    segmentation = task.segmentation
    if not segmentation.tuples:
        return "exact", []
    spark.dataSource.register(TupleSource)
    partitions = max(spark.sparkContext.defaultParallelism, segmentation.tuples // _PARTITION)
    spark.conf.set("spark.sql.shuffle.partitions", str(partitions))
    columns = [*parameters.predicate.fields, *(["time"] if parameters.spans is not None else [])]
    tuples = (
        spark.read.format(NAME)
        .options(source=to_text(task.source), tuples=segmentation.tuples, columns=",".join(columns))
        .options(partition=_PARTITION)
        .load()
    )
    with Oracle(tuples, parameters.predicate, Windows(parameters.windows, parameters.spans)) as oracle:
        theirs = {
            row.segment: (Checksum(row.results, row.low, row.high), row.lost)
            for row in oracle.checksums(segmentation.size).collect()
        }
        nothing = Checksum(0, 0, 0), 0
        differing = []
        for report in reports:
            ours = Checksum(report["results"], report["low"], report["high"]), report["missing_by_overflow"]
            if ours != theirs.get(report["segment"], nothing):
                differing.append(report)
        if not differing:
            return "exact", []
        first = differing[0]["segment"]
        rows = _rows_apart(spark, task, oracle, first, parameters.streams)
        ours, lost = differing[0]["missing_by_overflow"], theirs.get(first, nothing)[1]
        if ours != lost:
            rows.append(f"{ours} results are missing by overflow, by Spark SQL {lost}")
    where = f"segment {first} (arrivals from {segmentation.bounds(first)[0]} on)"
    said = "; ".join(rows) or "but not when it is run again: a worker is not to be trusted"
    sentence = f"{where} and {len(differing) - 1} more differ from Spark SQL's join: {said}"
    return {"differing_segments": len(differing)}, [sentence]


def _rows_apart(
    spark: SparkSession, task: SegmentTask, oracle: Oracle, segment: int, streams: tuple[str, ...]
) -> list[str]:
    """The first results of a segment that ours and theirs have not equally often, in words."""
    columns = ", ".join(f"{stream} bigint" for stream in streams)
    rows_task = RowsTask(task.model, task.source, task.segmentation, task.timeout)
    ours = spark.range(segment, segment + 1, 1, 1).mapInArrow(rows_task, f"{columns}, cycle bigint")
    theirs = oracle.results(task.segmentation.bounds(segment)).toDF("lane", "later", *streams)
    apart = _apart(ours, theirs, streams).orderBy("later", *streams).limit(_SHOWN).collect()
    return [
        f"the result of {', '.join(f'{stream} {row[stream]}' for stream in streams)} is there {row.ours} times"
        f"{'' if row.cycle is None else f' (cycle {row.cycle})'}, by Spark SQL {row.theirs} times"
        for row in apart
    ]


def _apart(ours: DataFrame, theirs: DataFrame, streams: tuple[str, ...]) -> DataFrame:
    one, none = fn.lit(1), fn.lit(0)
    both = ours.select(*streams, "cycle", one.alias("ours"), none.alias("theirs")).unionByName(
        theirs.select(*streams, fn.lit(None).cast("bigint").alias("cycle"), none.alias("ours"), one.alias("theirs"))
    )
    counts = both.groupBy(*streams).agg(
        fn.sum("ours").alias("ours"), fn.sum("theirs").alias("theirs"), fn.min("cycle").alias("cycle")
    )
    return counts.where("ours <> theirs").withColumn("later", fn.greatest(*streams))
