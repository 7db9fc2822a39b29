"""Low-latency handshake join: paper 002."""

import dataclasses
from functools import partial

from streamjoin.hdl.core import Pace
from streamjoin.hdl.expedition import Expedition
from streamjoin.hdl.expedition_core import ExpeditionCore
from streamjoin.hdl.message_chain import MessageChainJoin, MessageChainParameters
from streamjoin.hdl.window_manager import WindowManager


@dataclasses.dataclass(frozen=True, kw_only=True)
class LowLatencyParameters(MessageChainParameters):
    """Parameters of the low-latency handshake join."""

    @property
    def expedition(self) -> Expedition:
        return Expedition(self.pairing, cores=self.cores, lanes=self.lanes, windows=(self.window_r, self.window_s))

    @property
    def pace(self) -> Pace:
        # A row more than those that are full: a scan may begin within one. And R sees what flies.
        scan_of_r, scan_of_s = (ring.rows for ring in self.expedition.rings.values())
        scan_of_s += 1
        both = scan_of_r + scan_of_s if self.comparators == "shared" else max(scan_of_r, scan_of_s)
        return Pace(r=scan_of_s, s=scan_of_r, both=both)

    @property
    def patience(self) -> int:
        return 1000


class LowLatencyJoin(MessageChainJoin):
    """Low-latency handshake join: every tuple rushes through all cores at once and rests at one of them.

    Why it is exact, and why it cannot deadlock: :mod:`streamjoin.reference.expedition` says so for the order in which
    each core handles messages, whatever that order is. Here a message is handled in the cycle in which its core hands
    it on; comparing comes later, but in the order of handling, see :class:`ExpeditionCore`. Comparing waits for room in
    the queues of results, which drain through the merging tree into the output, and messages wait for comparing: so
    with an output that keeps taking results everything goes on.

    Cost. A tuple spends three cycles in a core on its way. Each core compares it with its share of the other window,
    ``lanes`` at a time; meanwhile tuples of the other stream wait, if they share the comparators. So with shares of
    n and m rows a pair costs n + m + 3 cycles (``comparators="apart"``: the greater of n + 2 and m + 1), and a result
    is out after three cycles a core, the scans of both shares and as many mergers as the tree is high, whatever the
    window: tuples are let in no faster than they can be compared, so that none wait in line.
    """

    def __init__(self, parameters: LowLatencyParameters):
        p, expedition = parameters, parameters.expedition
        rooms = {"link_queue": p.link_queue, "jobs": p.job_queue, "flight": p.flight, "queue": p.core_queue}
        cores = [
            ExpeditionCore(expedition, last=n == p.cores - 1, shared=p.comparators == "shared", **rooms)
            for n in range(p.cores)
        ]
        super().__init__(p, cores, partial(WindowManager, expedition, p.pace, on_full=p.on_full))
