"""Parameters of the circular multi-way join."""

import dataclasses
import typing
from collections.abc import Mapping
from math import prod

from amaranth.utils import ceil_log2

from streamjoin.hdl.base.parameters import Group, ParameterError, parameter
from streamjoin.hdl.lib.index_parameters import INDEXES, check_index, reconciled_index
from streamjoin.hdl.multiway.parameters import MultiwayParameters
from streamjoin.reference.wording import shown
from streamjoin.reference.written_numbers import whole_number

LEAST, MOST = 3, 8
_WINDOW = 64
#: The longest windows that are tried at random: with equal keys, results are as many as the product of windows.
_LONGEST = {3: 12, 4: 6, 5: 3, 6: 3, 7: 2, 8: 2}


@dataclasses.dataclass(frozen=True, kw_only=True)
class CircularParameters(MultiwayParameters):
    """Parameters of the circular join. ``streams`` is given as a number, and holds the names of the streams."""

    streams: tuple[str, ...] = parameter(
        LEAST,
        f"how many streams are joined, from {LEAST} to {MOST}",
        group=Group.WINDOWS,
        samples=(3, 3, 4, range(3, 9)),
    )
    window_s1: int | None = parameter(
        None,
        f"tuples in the window of S1 (with span: room for so many); none: {_WINDOW}",
        group=Group.WINDOWS,
        samples=(1, 2, range(1, 13)),
    )
    window_s2: int | None = parameter(None, "the same for S2", group=Group.WINDOWS, samples=(1, 2, range(1, 13)))
    window_s3: int | None = parameter(None, "the same for S3", group=Group.WINDOWS, samples=(1, 2, range(1, 13)))
    window_s4: int | None = parameter(
        None, "the same for S4, if there is such a stream", group=Group.WINDOWS, samples=(1, 2, range(1, 13))
    )
    window_s5: int | None = parameter(None, "the same for S5", group=Group.WINDOWS, samples=(1, 2, range(1, 13)))
    window_s6: int | None = parameter(None, "the same for S6", group=Group.WINDOWS, samples=(1, 2, range(1, 13)))
    window_s7: int | None = parameter(None, "the same for S7", group=Group.WINDOWS, samples=(1, 2, range(1, 13)))
    window_s8: int | None = parameter(None, "the same for S8", group=Group.WINDOWS, samples=(1, 2, range(1, 13)))
    index: str = parameter("none", "scan windows, or look only at what hashes to the same bucket", INDEXES)
    buckets: int | None = parameter(
        None,
        "buckets in each stage, a power of two; none: about one for each tuple",
        samples=(None, 1, 2, 4, 8, 16, 32, 64),
    )

    discard: int | None = parameter(
        None,
        "intermediate results at a depth, from which on further ones are lost, as in Najafi et al. 2018",
        samples=(None,),
    )

    def __post_init__(self):
        names = _names(self.streams)
        object.__setattr__(self, "streams", names)
        for number in range(1, MOST + 1):
            name = f"window_s{number}"
            window = getattr(self, name)
            if number > len(names):
                if window is not None:
                    raise ParameterError(f"there is no stream for {name}: leave it out, or raise streams to {number}")
            elif window is None:
                object.__setattr__(self, name, _WINDOW)
            elif not (isinstance(window, int) and window >= 1):
                raise ParameterError(f"{name} must be a whole number from 1 up, not {window!r}")
        super().__post_init__()
        check_index(self)
        if self.discard is not None and not (isinstance(self.discard, int) and 1 <= self.discard <= self.buffer):
            raise ParameterError(f"discard must be a whole number from 1 to buffer={self.buffer}, not {self.discard!r}")

    @classmethod
    def window_names(cls, beside: Mapping[str, object]) -> list[str]:
        return [f"window_s{n + 1}" for n in range(len(_names(beside.get("streams", LEAST))))]

    def as_dict(self):
        return super().as_dict() | {"streams": len(self.streams)}

    @classmethod
    def reconciled(cls, drawn: dict[str, typing.Any]) -> dict[str, typing.Any]:
        drawn = reconciled_index(super().reconciled(drawn))
        longest = _LONGEST[drawn["streams"]]
        windows = {f"window_s{n + 1}": None for n in range(MOST)}
        windows |= {name: min(drawn[name], longest) for name in list(windows)[: drawn["streams"]]}
        return drawn | windows

    @property
    def windows(self) -> tuple[int, ...]:
        return tuple(getattr(self, f"window_{stream.lower()}") for stream in self.streams)

    @property
    def comparisons_per_cycle(self) -> int:
        """Comparisons that all stages together make in a cycle, at most."""
        return len(self.streams) * self.lanes

    @property
    def buckets_of_stages(self) -> tuple[int | None, ...]:
        """For the window of each stream, if there is an index."""
        if self.index == "none":
            return (None,) * len(self.windows)
        return tuple(self.buckets or 1 << ceil_log2(window) for window in self.windows)

    @property
    def clearing(self) -> int:
        return max(buckets or 0 for buckets in self.buckets_of_stages)

    @property
    def patience(self) -> int:
        # The longest silence: everything matches but for the last stage, for all that is under way.
        scans = prod(sorted(self.windows)[2:])
        rows = 2 * max(self.windows) // self.lanes + 50
        return min(1 << 62, 1000 + self.clearing + scans * rows * self.flight * len(self.streams))


def _names(streams) -> tuple[str, ...]:
    """S1, S2, … for a number of streams, or for the text of one."""
    if isinstance(streams, tuple):
        return streams
    try:
        count = whole_number(str(streams))
    except ValueError:
        count = 0
    if not LEAST <= count <= MOST:
        raise ParameterError(f"streams must be a whole number from {LEAST} to {MOST}, not {shown(streams)}")
    return tuple(f"S{n + 1}" for n in range(count))
