"""The nested-loop join that Oge et al. 2011 compare handshake join with."""

from streamjoin.hdl.lockstep.join import LockStepJoin, reaction
from streamjoin.hdl.nested_loop.nested_loop_core import NestedLoopCore
from streamjoin.hdl.nested_loop.parameters import NestedLoopParameters


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
