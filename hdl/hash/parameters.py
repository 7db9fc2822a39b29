"""Parameters of the hash join."""

import dataclasses
import typing

from amaranth.utils import ceil_log2

from streamjoin.hdl.base.parameters import ParameterError, TwoStreamParameters, parameter
from streamjoin.hdl.hash.hash_window import WindowSizes
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.hash.window_ring import WindowRing
from streamjoin.reference.key_ranges import closed
from streamjoin.reference.wording import shown


@dataclasses.dataclass(frozen=True, kw_only=True)
class HashParameters(TwoStreamParameters):
    """Parameters of the hash join."""

    buckets: int | None = parameter(
        None,
        "buckets of each stream's table, a power of two; none: two for each tuple, four where keys match in a range",
        samples=(None, None, 1, 2, 4, 16, 64),
    )
    hash_seed: int = parameter(1, "draws the hash function", samples=range(1, 100))
    probe_queue: int = parameter(
        48, "tuples of a stream that may wait for their walks through the other's buckets", samples=(1, 2, 8, 48)
    )
    result_queue: int = parameter(
        56, "results of a stream's tuples that may wait for the output", samples=(1, 2, 8, 56)
    )

    def __post_init__(self):
        super().__post_init__()
        if self.buckets is not None and (self.buckets < 1 or self.buckets & (self.buckets - 1)):
            raise ParameterError(f"buckets must be a power of two, not {self.buckets}")
        if not closed(self.predicate.key_ranges):
            raise ParameterError(
                f"hash looks up keys by how far they are apart, and {shown(self.predicate.spec)} sets no bounds to "
                "that: use bisort for one bound, handshake or llhj for any predicate"
            )

    @classmethod
    def reconciled(cls, drawn: dict[str, typing.Any]) -> dict[str, typing.Any]:
        drawn = super().reconciled(drawn)
        return drawn | ({"predicate": "band:1"} if drawn["predicate"] in ("ne", "lt", "le", "gt", "ge") else {})

    @property
    def groups(self) -> KeyGroups:
        """Which keys share a bucket."""
        ranges = closed(self.predicate.key_ranges)
        assert ranges
        return KeyGroups(ranges[0][0], ranges[-1][1], self.key_width, self.hash_seed)

    @property
    def sizes(self) -> dict[str, WindowSizes]:
        """Of the window of each stream."""
        return {side: self._sizes_of(window) for side, window in zip("rs", self.windows, strict=True)}

    def _sizes_of(self, window: int) -> WindowSizes:
        banks = self.groups.banks
        buckets = self.buckets or 2 * banks << ceil_log2(window)
        return WindowSizes(WindowRing(window), max(1, buckets // banks), self.probe_queue, self.result_queue)

    @property
    def comparisons_per_cycle(self) -> int:
        """One for each stream."""
        return 2

    @property
    def patience(self) -> int:
        # The longest silence: all walks that wait see a whole window each and find nothing.
        return 4 * max(self.windows) * (self.probe_queue + 64) + 1000
