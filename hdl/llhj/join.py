"""Low-latency handshake join: Roy et al. 2014."""

from functools import partial

from streamjoin.hdl.chain.join import MessageChainJoin
from streamjoin.hdl.llhj.driver import ExpeditionDriver
from streamjoin.hdl.llhj.expedition_core import ExpeditionCore
from streamjoin.hdl.llhj.parameters import LowLatencyParameters


class LowLatencyJoin(MessageChainJoin):
    """Low-latency handshake join: every tuple rushes through all cores at once and rests at one of them.

    Why it is exact, and why it cannot deadlock: :mod:`streamjoin.reference.models.llhj_expedition` says so for the
    order in which each core handles messages, whatever that order is. Here a message is handled in the cycle in which
    its core hands it on; comparing comes later, but in the order of handling, see :class:`ExpeditionCore`. Comparing
    waits for room in the queues of results, which drain through the merging tree into the output, and messages wait for
    comparing: so with an output that keeps taking results everything goes on.

    Cost. A tuple spends five cycles in a core on its way. Each core compares it with its share of the other window,
    ``lanes`` at a time; meanwhile tuples of the other stream wait, if they share the comparators. So with shares of
    n and m rows a pair costs n + m + 3 cycles (``comparators="apart"``: the greater of n + 3 and m + 2), and a result
    is out after five cycles a core, the scans of both shares and as many mergers as the tree is high, whatever the
    window: tuples are let in no faster than they can be compared, so that none wait in line. With ``index="hash"`` a
    core looks only at what hashes to the same bucket, two cycles a tuple (:class:`HashWindowStore`): a pair costs eight
    cycles if keys are spread, and as much as a scan, twice over, if all are equal.
    """

    def __init__(self, parameters: LowLatencyParameters):
        p, expedition = parameters, parameters.expedition
        rooms = {"link_queue": p.link_queue, "jobs": p.job_queue, "flight": p.flight, "queue": p.core_queue}
        cores = [
            ExpeditionCore(expedition, last=n == p.cores - 1, shared=p.comparators == "shared", **rooms)
            for n in range(p.cores)
        ]
        outstanding = p.outstanding if p.promises_order else None
        driver = partial(
            ExpeditionDriver,
            expedition,
            p.pace,
            period=p.punctuation or 1,
            outstanding=outstanding,
            on_full=p.on_full,
        )
        super().__init__(p, cores, driver, outstanding)
