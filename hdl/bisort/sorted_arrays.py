"""The geometry of a BI-Sort join: where its sorted arrays lie, and what they look like."""

import dataclasses

from amaranth.hdl import Shape, unsigned
from amaranth.lib import data
from amaranth.utils import ceil_log2, exact_log2

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.reference.key_ranges import Ranges
from streamjoin.reference.models.bisort import number_width, subwindows


@dataclasses.dataclass(frozen=True)
class SortedArrays:
    """Layouts and sizes that all parts of one BI-Sort join share.

    All main arrays lie in one memory, which is cut into regions of a subwindow each: one for each subwindow of both
    streams, and a spare one that the next array is merged into. A memory is read and written in lines of ``lanes``
    tuples. Batches lie in memories of their own, in two halves: one is processed while the other is filled.

    Parameters
    ----------
    layout
        Layouts of tuples and results.
    windows
        Tuples in the windows of R and S.
    subwindow, partitions
        Tuples in a subwindow, and into how many parts the index divides it; powers of two.
    batch
        Tuples of each stream in a batch, at most.
    lanes
        Tuples in a line, a power of two.
    """

    layout: TupleLayout
    windows: tuple[int, int]
    subwindow: int
    partitions: int
    batch: int
    lanes: int

    @property
    def chains(self) -> tuple[int, int]:
        """Subwindows of R and S."""
        of_r, of_s = (subwindows(window, self.subwindow) for window in self.windows)
        return of_r, of_s

    @property
    def key_ranges(self) -> Ranges:
        """Which differences of keys match: joins of predicates that do not tell have no sorted arrays."""
        ranges = self.layout.predicate.key_ranges
        assert ranges is not None
        return ranges

    @property
    def regions(self) -> int:
        return sum(self.chains) + 1

    @property
    def places(self) -> int:
        """Tuples in the memory of all main arrays."""
        return self.regions * self.subwindow

    @property
    def half(self) -> int:
        """Places in each half of the memory of batches."""
        return max(self.lanes, 1 << ceil_log2(self.batch))

    @property
    def partition(self) -> int:
        """Tuples in a partition."""
        return self.subwindow // self.partitions

    @property
    def partition_bits(self) -> int:
        return exact_log2(self.partition)

    @property
    def partition_number(self) -> Shape:
        """Of a partition in its subwindow; one bit at least, for a queue has to hold something."""
        return unsigned(max(1, exact_log2(self.partitions)))

    @property
    def number_width(self) -> int:
        return number_width(self.windows, self.subwindow)

    @property
    def tuple(self) -> data.StructLayout:
        """A tuple as it is stored: with the number of those of its own stream, and of the other, before it."""
        counts = {"number": self.number_width, "others": self.number_width}
        return data.StructLayout({**self.layout.tuple.members, **counts})

    @property
    def line(self) -> data.ArrayLayout:
        return data.ArrayLayout(self.tuple, self.lanes)

    @property
    def bound(self) -> int:
        """Bits of a bound: a key, or one more than the largest."""
        return self.layout.tuple["key"].width + 1

    @property
    def array(self) -> data.StructLayout:
        """A main array: its region and how many tuples it has."""
        return data.StructLayout({"region": range(self.places // self.subwindow), "count": range(self.subwindow + 1)})
