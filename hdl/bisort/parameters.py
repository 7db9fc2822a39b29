"""Parameters of the BI-Sort join, and the sizes that follow from them."""

import dataclasses
import typing

from amaranth.utils import ceil_log2

from streamjoin.hdl.base.parameters import ParameterError, TwoStreamParameters, parameter
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.hdl.lib.external_memory import LEAST_LATENCY
from streamjoin.reference.output import Output, Records
from streamjoin.reference.records import RecordMirror
from streamjoin.reference.wording import shown

#: Where nobody says otherwise: tuples in a partition, and at most PanJoin's partitions and batches.
LEAST_PARTITION, MOST_PARTITIONS, LARGEST_BATCH = 4, 1 << 16, 1 << 15
#: What results are.
OUTPUTS = ("pairs", "records")


@dataclasses.dataclass(frozen=True, kw_only=True)
class BisortParameters(TwoStreamParameters):
    """Parameters of the BI-Sort join."""

    subwindow: int | None = parameter(
        None, "tuples in a subwindow, a power of two; none: such as hold a window", samples=(None, 2, 4, 8, 16, 32, 64)
    )
    partitions: int | None = parameter(
        None,
        "partitions of a subwindow, a power of two, each with a key in the index; none: one for four tuples",
        samples=(None, 1, 2, 4, 8, 16, 32),
    )
    batch: int | None = parameter(
        None,
        "tuples of a stream that are processed together, at most; none: a quarter of a subwindow",
        samples=(None, 1, 2, range(1, 21), 100),
    )
    collect: int = parameter(
        1024, "cycles that the first tuple of a batch waits for others, at most", samples=(1, range(2, 41), 1000)
    )
    mergers: int = parameter(1, "tuples that are merged in a cycle, a power of two", samples=(1, 2, 4, 8))
    probers: int = parameter(
        1, "tuples that probe side by side, each with two comparisons a cycle; a power of two", samples=(1, 2, 4)
    )
    ahead: int = parameter(8, "lines that a merger or prober reads ahead", samples=range(1, 9))
    output: str = parameter("pairs", "pairs of tuples, or records of who matches from where to where", OUTPUTS)
    bandwidth: int | None = parameter(
        None, "bytes a cycle of an external memory; none: main arrays are in block RAM", samples=(None, range(1, 201))
    )
    latency: int = parameter(32, "cycles in which an external memory answers, from 2 up", samples=range(2, 41))

    def __post_init__(self):
        super().__post_init__()
        for name in ("subwindow", "partitions", "batch"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ParameterError(f"{name} must be a whole number from 1 up, not {value}")
        for name in ("subwindow", "partitions", "mergers", "probers"):
            value = getattr(self, name)
            if value is not None and value & (value - 1):
                raise ParameterError(f"{name} must be a power of two, not {value}")
        if self.predicate.key_ranges is None:
            raise ParameterError(
                f"bisort looks for ranges of keys, and {shown(self.predicate.spec)} does not tell which: compare "
                "r.key - s.key with numbers, or use another design"
            )
        arrays = self.arrays
        if arrays.partitions * arrays.lanes > arrays.subwindow:
            raise ParameterError(
                f"a partition of subwindow={arrays.subwindow} / partitions={arrays.partitions} tuples must hold a line "
                f"of {self.lanes}, as many as mergers or twice probers: take fewer partitions or a larger subwindow"
            )

        if self.gives_records and (self.spans is not None or self.predicate.fields != ("key",)):
            raise ParameterError("output=records cannot look at time or a second key: take output=pairs")
        if self.gives_records and not self.predicate.ranges_decide:
            raise ParameterError(
                f"output=records cannot look at more than the difference of keys, as {shown(self.predicate.spec)} "
                "does: take output=pairs"
            )
        if self.bandwidth is not None and self.bandwidth < 1:
            raise ParameterError(f"bandwidth must be at least 1 byte a cycle, not {self.bandwidth}")
        if self.latency < LEAST_LATENCY:
            raise ParameterError(f"latency must be at least {LEAST_LATENCY}, not {self.latency}")

    @classmethod
    def reconciled(cls, drawn: dict[str, typing.Any]) -> dict[str, typing.Any]:
        drawn = super().reconciled(drawn)
        lanes = max(drawn["mergers"], 2 * drawn["probers"])
        if drawn["subwindow"] is not None:
            drawn["subwindow"] = max(drawn["subwindow"], lanes)
        if drawn["output"] == "records":
            drawn |= {"span_r": None, "span_s": None}
            drawn["predicate"] = "equi" if "band2" in drawn["predicate"] else drawn["predicate"]
        if drawn["partitions"] is not None:
            subwindow = cls.parse({**drawn, "partitions": None}).arrays.subwindow
            drawn["partitions"] = min(drawn["partitions"], subwindow // lanes)
        return drawn

    @property
    def gives_records(self) -> bool:
        """Whether results are records that stand for many pairs."""
        return self.output == "records"

    @property
    def output_meaning(self) -> Output:
        if not self.gives_records:
            return super().output_meaning
        return Records(RecordMirror(self.predicate, self.arrays.subwindow, self.arrays.chains))

    @property
    def lanes(self) -> int:
        """Tuples in a line of memory: as many as are merged, or compared by all probers, in a cycle."""
        return max(self.mergers, 2 * self.probers)

    @property
    def arrays(self) -> SortedArrays:
        """Sizes, with those that were not given chosen to fit the longer window.

        Each subwindow of the other stream is a pass for every batch, and merging goes over the newest once a batch: so
        few subwindows, and batches that are a good part of one.
        """
        subwindow = self.subwindow or max(self.lanes, 1 << ceil_log2(max(self.windows)))
        partition = max(LEAST_PARTITION, self.lanes)
        return SortedArrays(
            self.layout,
            windows=self.windows,
            subwindow=subwindow,
            partitions=self.partitions or min(MOST_PARTITIONS, max(1, subwindow // partition)),
            batch=min(self.batch or min(LARGEST_BATCH, max(1, subwindow // 4)), subwindow),
            lanes=self.lanes,
        )

    @property
    def comparisons_per_cycle(self) -> int:
        """Comparisons in a cycle, at most: one a merger and two a prober."""
        return self.mergers + 2 * self.probers

    @property
    def quiet(self) -> int:
        # A drain ends the last batch at once; by itself it ends when its first tuple has waited so long.
        return self.collect + 8

    @property
    def patience(self) -> int:
        # The longest silence: two batches whose candidates have all expired, each of which took all passes.
        arrays = self.arrays
        passes = max(arrays.chains) * len(arrays.key_ranges)
        a_pass = 8 * (arrays.subwindow + arrays.batch) + 200
        candidates = arrays.batch * max(arrays.chains) * arrays.subwindow
        # With an external memory each line of them may come alone, after many that others wait for.
        slower = 1
        if self.bandwidth is not None:
            turns = self.mergers + 2 * self.probers + 2
            slower = self.latency + turns * -(-arrays.line.size // (8 * self.bandwidth))
        return 2 * slower * (passes * a_pass + 2 * candidates + 40 * arrays.batch) + 2 * self.collect + 2000
