"""Parameters of the nested-loop join."""

import dataclasses

from streamjoin.hdl.base.parameters import TwoStreamParameters, parameter
from streamjoin.hdl.lockstep.segment import SEGMENTS
from streamjoin.hdl.nested_loop.nested_loop_core import NestedLoopCore


@dataclasses.dataclass(frozen=True, kw_only=True)
class NestedLoopParameters(TwoStreamParameters):
    """Parameters of the nested-loop baseline."""

    storage: str = parameter("memory", "where windows live", tuple(SEGMENTS))
    queue: int = parameter(8, "results that may wait for each stream, besides their reserve", samples=range(1, 5))

    @property
    def pace(self):
        return NestedLoopCore.pace(*self.windows)

    @property
    def comparisons_per_cycle(self) -> int:
        """Comparisons in a cycle, at most: one a stream."""
        return 2

    @property
    def patience(self) -> int:
        return self.pace.both + 1000
