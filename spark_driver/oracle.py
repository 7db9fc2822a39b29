"""A second opinion: the window join in Spark SQL, sharing no code with the simulator, its check or its segments.

Of each tuple it is counted how many of each stream came before it. That says what its window holds: of a stream of
which b tuples came before, those with an index in [b - W, b). To find them by equality, indices are put into buckets
somewhat wider than a window, and an arriving tuple asks the one or two buckets that its window touches. Spark finds
equal keys in the predicate by itself, and then joins by key and bucket. Where windows are time-based, it is times that
are put into buckets, and what the spans ask for is found whatever the room; of each result it is noted whether the room
allowed it.

More than two streams are joined from the arriving tuple outward, each with its neighbour.
"""

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from streamjoin.reference.arrivals import Windows
from streamjoin.reference.expressions import RELATIONS, Comparison, evaluated
from streamjoin.reference.predicates import Predicate

_BLOCK = 1 << 16  # tuples that are numbered together
_EQUI_BUCKET, _BUCKET = 8, 1  # windows in a bucket: where keys are looked up, buckets may hold what does not matter
_LARGEST = 1 << 62  # bucket
_WIDE, _WIDEST = "decimal(19, 0)", "decimal(38, 0)"  # a key, and any sum of keys


class Oracle:
    """The join of a table of tuples (``lane``, ``seq``, ``stream``, keys, ``time``), lane by lane.

    Use it as a context manager: the numbered tuples are kept for as long as it lasts.
    """

    def __init__(self, tuples: DataFrame, predicate: Predicate, windows: Windows):
        self._predicate = predicate
        self._windows = windows
        self._tuples = _numbered(tuples, windows.streams)

    def __enter__(self) -> "Oracle":
        self._tuples.persist(StorageLevel.DISK_ONLY)
        return self

    def __exit__(self, *_) -> None:
        self._tuples.unpersist()

    def results(self, seq: tuple[int, int] | None = None) -> DataFrame:
        """All results that rooms allow: ``lane``, a column ``n0``, ``n1``, … of arrival numbers for each stream, and
        ``later``, the greatest of them; if ``seq`` is given, only those with ``later`` in this range [first, last)."""
        return self._joined(seq).where("held").drop("held")

    def _joined(self, seq: tuple[int, int] | None = None) -> DataFrame:
        """Those that the rooms do not allow as well; ``held`` says which do."""
        parts = [self._of_arriving(stream, seq) for stream in range(self._windows.streams)]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole.unionByName(part)
        return whole

    def checksums(self, size: int) -> DataFrame:
        """For each lane and segment of ``size`` arrivals: ``results``, ``low`` and ``high`` as in `checksum`, of those
        that the rooms allow, and how many more are ``lost`` that spans ask for."""
        numbers = [f"n{stream}" for stream in range(self._windows.streams)]
        hashed = self._joined().select(
            "lane", "held", fn.expr(f"later div {size}").alias("segment"), fn.xxhash64(*numbers).alias("hash")
        )

        def total(column: Column) -> Column:
            return fn.sum(fn.when(fn.col("held"), column).otherwise(0))

        return hashed.groupBy("lane", "segment").agg(
            total(fn.lit(1)).alias("results"),
            total(fn.col("hash").bitwiseAND(0xFFFFFFFF)).alias("low"),
            total(fn.shiftrightunsigned("hash", 32)).alias("high"),
            fn.count_if(~fn.col("held")).alias("lost"),
        )

    def _of_arriving(self, arriving: int, seq: tuple[int, int] | None) -> DataFrame:
        """Results in which the tuple of this stream came last."""
        streams = range(self._windows.streams)
        found = _of_stream(self._tuples, arriving)
        if seq is not None:
            found = found.where((fn.col("seq") >= seq[0]) & (fn.col("seq") < seq[1]))
        # The arriving tuple is the one that windows are those of.
        others = [stream for stream in streams if stream != arriving]
        moment = [fn.col(f"before{stream}").alias(f"now{stream}") for stream in others]
        found = found.select(
            "lane",
            fn.col("seq").alias("later"),
            fn.col("time").alias("now"),
            fn.lit(True).alias("held"),
            *moment,
            *_named(arriving),
        )
        path = [(known, known + 1) for known in range(arriving, streams[-1])]
        path += [(known, known - 1) for known in range(arriving, 0, -1)]
        for known, other in path:
            found = self._extended(found, known, other)
        return found.select("lane", "later", "held", *(f"n{stream}" for stream in streams))

    def _extended(self, found: DataFrame, known: int, other: int) -> DataFrame:
        """Each of the combinations found with each tuple of another stream that belongs to it."""
        room, now, index = self._windows.rooms[other], f"now{other}", f"before{other}"
        # A window is a range of indices, or of times: from the first to the last place that is asked for.
        if self._windows.spans is None:
            size, place, first, last = room, index, f"{now} - {room}", f"({now} - 1)"
        else:
            size = self._windows.spans[other]
            place, first, last = "time", f"now - {size - 1}", "now"
        bucket = min(_LARGEST, size * (_EQUI_BUCKET if self._predicate.is_equi else _BUCKET))
        asked = f"explode(sequence(greatest({first}, 0) div {bucket}, {last} div {bucket}))"
        probes = found.where(fn.col(now) > 0).withColumn("bucket", fn.expr(asked))
        partners = _of_stream(self._tuples, other).select(
            fn.col("lane").alias("other_lane"),
            fn.expr(f"{place} div {bucket}").alias("other_bucket"),
            fn.col(index).alias("other_index"),
            fn.col("time").alias("other_time"),
            *_named(other),
        )
        left, right = (known, other) if known < other else (other, known)
        in_room = fn.col("other_index") >= fn.col(now) - room
        condition = (
            (fn.col("lane") == fn.col("other_lane"))
            & (fn.col("bucket") == fn.col("other_bucket"))
            & (fn.col("other_index") < fn.col(now))
            & _holds(self._predicate, left, right)
            & (in_room if self._windows.spans is None else fn.col("now") - fn.col("other_time") < size)
        )
        joined = probes.join(partners.hint("shuffle_hash"), condition)
        if self._windows.spans is not None:
            joined = joined.withColumn("held", fn.col("held") & in_room)
        return joined.drop("bucket", "other_lane", "other_bucket", "other_index", "other_time")


def _numbered(tuples: DataFrame, streams: int) -> DataFrame:
    """The tuples, and for each stream j ``before{j}``: how many of it came before; a block at a time."""
    for name in ("key2", "time"):
        if name not in tuples.columns:
            tuples = tuples.withColumn(name, fn.lit(None).cast("bigint"))
    tuples = tuples.withColumn("block", fn.expr(f"seq div {_BLOCK}"))
    is_of = [(fn.col("stream") == stream).cast("bigint") for stream in range(streams)]

    def running(column: Column, *within: str, by: str) -> Column:
        ordered = Window.partitionBy(*within).orderBy(by).rowsBetween(Window.unboundedPreceding, -1)
        return fn.coalesce(fn.sum(column).over(ordered), fn.lit(0))

    counts = tuples.groupBy("lane", "block").agg(*(fn.sum(one).alias(f"c{j}") for j, one in enumerate(is_of)))
    bases = counts.select(
        "lane", "block", *(running(fn.col(f"c{j}"), "lane", by="block").alias(f"base{j}") for j in range(streams))
    )
    inside = tuples.select(
        "*", *(running(one, "lane", "block", by="seq").alias(f"inside{j}") for j, one in enumerate(is_of))
    )
    whole = inside.join(fn.broadcast(bases), ["lane", "block"])
    before = (fn.col(f"base{j}") + fn.col(f"inside{j}") for j in range(streams))
    return whole.select(
        "lane", "seq", "stream", "key", "key2", "time", *(each.alias(f"before{j}") for j, each in enumerate(before))
    )


def _of_stream(tuples: DataFrame, stream: int) -> DataFrame:
    return tuples.where(fn.col("stream") == stream)


def _named(stream: int) -> list[Column]:
    """What stays of a tuple that has been found: its number and its keys."""
    names = {"seq": "n", "key": "key_", "key2": "key2_"}
    return [fn.col(name).alias(f"{short}{stream}") for name, short in names.items()]


def _holds(predicate: Predicate, first: int, second: int) -> Column | bool:
    """Whether the predicate holds between two streams, of each of which a tuple has been found."""
    names = {"r": first, "s": second}

    def compare(comparison: Comparison) -> Column:
        def column(field: tuple[str, str]) -> Column:
            side, name = field
            return fn.col(f"{name}_{names[side]}")

        relation, number = RELATIONS[comparison.relation], comparison.number
        if comparison.difference is None:
            whole = sum(column(field).cast(_WIDE) * times for field, times in comparison.terms)
            return relation(whole, fn.lit(str(number)).cast(_WIDEST))
        added, taken = (fn.lit(0) if field is None else column(field) for field in comparison.difference)
        if comparison.relation == "==":
            # An equality of two columns is what Spark looks up; beyond 64 bits there is no key to be equal to.
            return added == (fn.try_add(taken, fn.lit(number)) if number else taken)
        return relation(added - taken, number)

    return evaluated(predicate.expression, compare)
