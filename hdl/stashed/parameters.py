"""Parameters of the stashed multi-way join."""

import dataclasses
import typing

from streamjoin.hdl.base.parameters import Group, ParameterError, parameter
from streamjoin.hdl.multiway.parameters import MultiwayParameters


@dataclasses.dataclass(frozen=True, kw_only=True)
class StashedParameters(MultiwayParameters):
    """Parameters of the stashed join; ``lanes`` are those of the first stage."""

    window_s1: int = parameter(
        64,
        "tuples of S1 in its window (with span: room for so many)",
        group=Group.WINDOWS,
        samples=(1, 2, range(1, 13)),
    )
    window_s2: int = parameter(64, "the same for S2", group=Group.WINDOWS, samples=(1, 2, range(1, 13)))
    window_s3: int = parameter(64, "the same for S3", group=Group.WINDOWS, samples=(1, 2, range(1, 13)))
    second_lanes: int | None = parameter(
        None, "tuples that the second stage compares in a cycle; none: as the first", samples=(None, 1, range(2, 7))
    )
    stash: int | None = parameter(
        None,
        "pairs that the stash holds, from 0 up; none: as many as the window of S1",
        samples=(None, 0, 1, range(2, 101)),
    )
    spare_bits: int = parameter(
        12, "bits of a position beyond those that windows need: how seldom the stash is emptied", samples=range(1, 4)
    )

    #: The streams in the order of their ports.
    streams: typing.ClassVar[tuple[str, ...]] = ("S1", "S2", "S3")

    def __post_init__(self):
        for name, least, default in (("second_lanes", 1, self.lanes), ("stash", 0, self.window_s1)):
            value = getattr(self, name)
            if value is None:
                object.__setattr__(self, name, default)
            elif not (isinstance(value, int) and value >= least):
                raise ParameterError(f"{name} must be a whole number from {least} up, not {value!r}")
        super().__post_init__()

    @property
    def windows(self) -> tuple[int, ...]:
        return self.window_s1, self.window_s2, self.window_s3

    @property
    def sizes(self) -> tuple[int, int]:
        """Lanes of the second stage and pairs of the stash: where none were given, they have been chosen."""
        assert self.second_lanes is not None
        assert self.stash is not None
        return self.second_lanes, self.stash

    @property
    def comparisons_per_cycle(self) -> int:
        """Comparisons that both stages together make in a cycle, at most."""
        return self.lanes + self.sizes[0]

    @property
    def patience(self) -> int:
        # The longest silence: everything matches but for the last scan, for all that is under way.
        scans = 2 + max(self.windows)
        second_lanes, stash = self.sizes
        rows = max(*self.windows, stash) // min(self.lanes, second_lanes) + 60
        return min(1 << 62, 1000 + scans * rows * self.flight * 3)
