"""The nested-loop join that Oge et al. 2011 compare handshake join with."""

import dataclasses

from streamjoin.hdl.base.parameters import JoinParameters, parameter
from streamjoin.hdl.lockstep.join import LockStepJoin, reaction
from streamjoin.hdl.lockstep.segment import SEGMENTS
from streamjoin.hdl.nested_loop.nested_loop_core import NestedLoopCore


@dataclasses.dataclass(frozen=True, kw_only=True)
class NestedLoopParameters(JoinParameters):
    """Parameters of the nested-loop baseline."""

    storage: str = parameter("memory", "where windows live", tuple(SEGMENTS))
    queue: int = parameter(8, "results that may wait for each stream, besides their reserve")

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


class NestedLoopJoin(LockStepJoin):
    """A chain of one core that holds both windows whole; all that are due have met when the last scan ends."""

    def __init__(self, parameters: NestedLoopParameters):
        p = parameters
        core = NestedLoopCore(
            p.layout,
            segment_r=p.window_r,
            segment_s=p.window_s,
            storage=p.storage,
            queue=p.queue,
            reaction=reaction(1, 2),
        )
        super().__init__(
            p.layout,
            [core],
            pace=p.pace,
            on_full=p.on_full,
            drain_stream="r",
            drain_steps=0,
            merger="streaming",
            merger_queue=2,
            fan=2,
        )
