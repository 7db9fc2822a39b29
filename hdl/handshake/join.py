"""Lock-step handshake join: Teubner and Mueller 2011 (sections 4.1 and 6) and Oge et al. 2011."""

from streamjoin.hdl.handshake.parallel_core import ParallelCore
from streamjoin.hdl.handshake.parameters import HandshakeParameters
from streamjoin.hdl.handshake.sequential_core import SequentialCore
from streamjoin.hdl.lockstep.join import LockStepJoin, reaction


class HandshakeJoin(LockStepJoin):
    """Handshake join as one chain of cores in step; see :class:`LockStepJoin` for why it is exact.

    ``scan="parallel"`` takes one R and one S tuple in every cycle while matches are rare; at high match rates the
    output's one result a cycle is the limit. ``scan="sequential"`` takes a pair in segment_r + segment_s + 5 cycles.
    """

    def __init__(self, parameters: HandshakeParameters):
        p = parameters
        common = {"queue": p.core_queue, "reaction": reaction(p.cores, p.fan)}
        longest_r, longest_s = p.segments[0]

        def core(segment_r, segment_s):
            sizes = {"segment_r": segment_r, "segment_s": segment_s}
            if p.scan == "parallel":
                return ParallelCore(p.layout, **sizes, match_queue=p.match_queue, **common)
            return SequentialCore(p.layout, **sizes, scan_r=longest_s, scan_s=longest_r, storage=p.storage, **common)

        super().__init__(
            p.layout,
            [core(*segment) for segment in p.segments],
            pace=p.pace,
            on_full=p.on_full,
            # Pushing either stream all the way lets every pair meet: push the shorter window.
            drain_stream="r" if p.window_r <= p.window_s else "s",
            drain_steps=min(p.windows),
            merger=p.merger,
            merger_queue=p.merger_queue,
            fan=p.fan,
        )
