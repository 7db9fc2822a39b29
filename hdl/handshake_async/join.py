"""Handshake join with message queues: Teubner and Mueller 2011, section 4."""

from functools import partial

from streamjoin.hdl.chain.join import MessageChainJoin
from streamjoin.hdl.handshake_async.driver import HandoverDriver
from streamjoin.hdl.handshake_async.handover_core import HandoverCore
from streamjoin.hdl.handshake_async.parameters import AsynchronousHandshakeParameters


class AsynchronousHandshakeJoin(MessageChainJoin):
    """Handshake join whose cores stall each for themselves: tuples wait where they are until the neighbour has fewer.

    Why it is exact, and why it cannot deadlock: :mod:`streamjoin.reference.models.handshake_async` says so for the
    order in which each core handles messages, whatever that order is; :class:`HandoverCore`, why this holds although
    its windows work at their own pace. Comparing waits for room in the queues of results, which drain through the
    merging tree into the output; so with an output that keeps taking results everything goes on.

    Cost. A tuple is compared in each core with all that rests there of the other window, ``lanes`` at a time; where
    both windows share the comparators, a pair with shares of n and m rows costs about n + m cycles, else the greater of
    the two. A core that is held up holds up neither its neighbours nor the input until they have used up their
    ``slack``. A pair meets when its tuples pass each other, after up to half a window of arrivals: the cores at rest do
    not look for pairs.
    """

    def __init__(self, parameters: AsynchronousHandshakeParameters):
        p, handover = parameters, parameters.handover
        cores = [
            HandoverCore(
                handover,
                first=n == 0,
                last=n == p.cores - 1,
                shared=p.comparators == "shared",
                queue=p.core_queue,
            )
            for n in range(p.cores)
        ]
        super().__init__(p, cores, partial(HandoverDriver, handover, on_full=p.on_full))
