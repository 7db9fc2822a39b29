"""Low-latency handshake join: Roy et al. 2014."""

import dataclasses
from functools import partial

from amaranth.utils import ceil_log2

from streamjoin.hdl.base.index import INDEXES, check_index
from streamjoin.hdl.base.parameters import ParameterError, parameter
from streamjoin.hdl.chain.join import MessageChainJoin, MessageChainParameters
from streamjoin.hdl.llhj.driver import ExpeditionDriver
from streamjoin.hdl.llhj.expedition import Expedition
from streamjoin.hdl.llhj.expedition_core import ExpeditionCore
from streamjoin.hdl.lockstep.core import Pace


@dataclasses.dataclass(frozen=True, kw_only=True)
class LowLatencyParameters(MessageChainParameters):
    """Parameters of the low-latency handshake join."""

    punctuation: int | None = parameter(None, "arrivals after which a punctuation is due; none: no punctuations")
    ordered: str = parameter("false", "results in the order of their later tuple, by punctuations", ("false", "true"))
    outstanding: int = parameter(64, "with ordered: arrivals that may be without punctuation, a power of two from 8 up")
    index: str = parameter("none", "scan all that rests in a core, or only what hashes to the same bucket", INDEXES)
    buckets: int | None = parameter(None, "buckets in each core, a power of two; none: about one for each tuple")

    def __post_init__(self):
        super().__post_init__()
        if self.punctuation is not None and self.punctuation < 1:
            raise ParameterError(f"punctuation must be at least 1, not {self.punctuation}")
        if self.outstanding < 8 or self.outstanding & (self.outstanding - 1):
            raise ParameterError(f"outstanding must be a power of two from 8 up, not {self.outstanding}")
        if self.numbered and self.merger != "streaming":
            raise ParameterError(f"punctuations need merger=streaming, not {self.merger}")
        check_index(self)

    @property
    def numbered(self) -> bool:
        return self.punctuation is not None or self.promises_order

    @property
    def promises_order(self) -> bool:
        return self.ordered == "true"

    @property
    def expedition(self) -> Expedition:
        windows = (self.window_r, self.window_s)
        buckets = None
        if self.index == "hash":
            buckets = self.buckets or 1 << ceil_log2(-(-max(windows) // self.cores))
        return Expedition(self.layout, cores=self.cores, lanes=self.lanes, windows=windows, buckets=buckets)

    @property
    def pace(self) -> Pace:
        if self.index == "hash":
            return Pace(r=8, s=8, both=8)
        # A row more than those that are full: a scan may begin within one. And R sees what flies.
        scan_of_r, scan_of_s = (ring.rows for ring in self.expedition.rings.values())
        scan_of_s += 1
        # Between two scans of a window lies a cycle, in which the other window is scanned if they take turns.
        r, s = scan_of_s + 1, scan_of_r + 1
        return Pace(r=r, s=s, both=scan_of_r + scan_of_s if self.comparators == "shared" else max(r, s))

    @property
    def clearing(self) -> int:
        return max(self.outstanding if self.promises_order else 0, self.expedition.buckets or 0)

    @property
    def quiet(self) -> int:
        # A drain hastens the last punctuation, for which ordered results wait.
        return self.patience if self.promises_order else 0

    @property
    def patience(self) -> int:
        # The longest silence: as many scans without results as jobs may wait in a core.
        rows = sum(ring.rows for ring in self.expedition.rings.values())
        return 2 * (rows + 10) * (self.job_queue + self.link_queue) + 10 * self.cores + 1000 + self.clearing


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
        driver = partial(
            ExpeditionDriver,
            expedition,
            p.pace,
            period=p.punctuation or 1,
            outstanding=p.outstanding if p.promises_order else None,
            on_full=p.on_full,
        )
        super().__init__(p, cores, driver)
