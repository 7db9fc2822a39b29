"""Parameters of the hash join."""

import dataclasses
import typing
from dataclasses import replace
from math import isqrt

from amaranth.utils import ceil_log2

from streamjoin.hdl.base.parameters import ParameterError, TwoStreamParameters, parameter
from streamjoin.hdl.hash.hash_unit import UnitSizes
from streamjoin.hdl.hash.hash_window import WindowSizes
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.hash.placed_layout import PlacedLayout
from streamjoin.hdl.hash.window_ring import WindowRing
from streamjoin.reference.key_ranges import closed
from streamjoin.reference.wording import shown

WIDTHS = (1, 2, 4, 8)
#: Where several tuples come in a cycle: transfers in an epoch, and those that come until the end of an epoch is heard,
#: twice over, and while a tuple that has arrived is being looked up.
FLIGHT_EPOCH, FLIGHT_OVERSHOOT = 48, 40
#: Probes and results that may wait; in a unit with what must still find room 16, which one look-up table holds.
QUEUES, UNIT_QUEUES = (48, 56), (4, 8)


@dataclasses.dataclass(frozen=True, kw_only=True)
class HashParameters(TwoStreamParameters):
    """Parameters of the hash join."""

    buckets: int | None = parameter(
        None,
        "buckets of each stream's table, a power of two; none: two for each tuple, four where keys match in a range",
        samples=(None, None, 1, 2, 4, 16, 64),
    )
    hash_seed: int = parameter(1, "draws the hash function", samples=range(1, 100))
    width: int = parameter(1, "tuples of each stream that may enter in a cycle: 1, 2, 4 or 8", samples=(1, 1, 2, 4, 8))
    results: int = parameter(1, "results that may leave in a cycle, a power of two", samples=(1, 1, 2, 4))
    probe_queue: int | None = parameter(
        None,
        "tuples of a stream that may wait for their walks through the other's buckets; none: 48, in a unit 4",
        samples=(None, 1, 2, 8),
    )
    lane_queue: int = parameter(
        16, "with a width, tuples that may wait in front of each switch on their way to their home", samples=(2, 4, 16)
    )
    result_queue: int | None = parameter(
        None,
        "results of a stream's tuples that may wait for the output; none: 56, in a unit 8",
        samples=(None, 1, 2, 8),
    )

    def __post_init__(self):
        super().__post_init__()
        if self.width not in WIDTHS:
            raise ParameterError(f"width is one of {', '.join(map(str, WIDTHS))}, not {self.width}")
        if self.results & (self.results - 1):
            raise ParameterError(f"results must be a power of two, not {self.results}")
        for name in ("probe_queue", "result_queue"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ParameterError(f"{name} must be a whole number from 1 up, not {value}")
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
        home_bits = ceil_log2(self.units) if self.width > 1 else 0
        return KeyGroups(ranges[0][0], ranges[-1][1], self.key_width, self.hash_seed, home_bits)

    @property
    def sizes(self) -> dict[str, WindowSizes]:
        """Of the window of each stream."""
        return {side: self._sizes_of(window) for side, window in zip("rs", self.windows, strict=True)}

    def _sizes_of(self, window: int, units: int = 1) -> WindowSizes:
        banks = self.groups.banks
        buckets = (self.buckets or 2 * banks << ceil_log2(window)) // units
        probes, results = QUEUES if self.width == 1 else UNIT_QUEUES
        queues = (self.probe_queue or probes, self.result_queue or results)
        return WindowSizes(WindowRing(window), max(1, buckets // banks), *queues)

    @property
    def units(self) -> int:
        """Where several tuples come in a cycle: how many units share them."""
        return 2 * self.width

    @property
    def disorder(self) -> int:
        """Tuples of a stream that may overtake another one: those of two epochs, and some that are on their way."""
        return self.width * (2 * FLIGHT_EPOCH + FLIGHT_OVERSHOOT)

    @property
    def placed_layout(self) -> PlacedLayout:
        """Layouts inside, where several tuples come in a cycle."""
        farthest = max(self.windows) + 4 * self.disorder
        homes = self.groups.home_bits if self.groups.copies else 0
        return PlacedLayout.of(self.layout, self.windows, 1 + ceil_log2(farthest), homes)

    @property
    def unit_sizes(self) -> UnitSizes:
        """Of the units, where several tuples come in a cycle."""
        # All tuples of R may have two homes.
        copies = {"r": 1 + self.groups.copies, "s": 1}
        windows = {
            side: self._unit_sizes(window, copies[side]) for side, window in zip("rs", self.windows, strict=True)
        }
        return UnitSizes(self.units, windows, self.disorder)

    def _unit_sizes(self, window: int, copies: int) -> WindowSizes:
        # What is not dead, evenly spread, and as much as hash functions make of that. At the least, room for all that
        # are not dead, all that come meanwhile, and those of which the queue of numbers has not told, since somebody
        # younger is in front of them; a unit hears of the newest number a little late, and keeps some places free.
        mean = (window + self.disorder) // self.units
        least = copies * (window + 3 * self.disorder + 32 * self.width) // self.units + 8
        room = max(least, mean + 6 * isqrt(mean) + 16)
        return replace(self._sizes_of(window, self.units), ring=WindowRing(room))

    @property
    def comparisons_per_cycle(self) -> int:
        """One in each window."""
        return 2 if self.width == 1 else 2 * self.units

    @property
    def patience(self) -> int:
        # The longest silence: all walks that wait see a whole window each and find nothing, in each unit.
        if self.width == 1:
            return 4 * max(self.windows) * (self.sizes["r"].queue + 64) + 1000
        sizes = self.unit_sizes.windows.values()
        most, queue = max(each.ring.window for each in sizes), max(each.queue for each in sizes)
        return 4 * most * self.units * (queue + 64) + 1000
