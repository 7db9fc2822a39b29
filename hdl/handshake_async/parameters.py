"""Parameters of the asynchronous handshake join."""

import dataclasses

from streamjoin.hdl.base.parameters import parameter
from streamjoin.hdl.chain.parameters import MessageChainParameters
from streamjoin.hdl.handshake_async.handover import Handover


@dataclasses.dataclass(frozen=True, kw_only=True)
class AsynchronousHandshakeParameters(MessageChainParameters):
    """Parameters of the asynchronous handshake join."""

    slack: int = parameter(1, "tuples that a core may hold beyond its share of a window", samples=range(1, 5))

    @property
    def handover(self) -> Handover:
        return Handover(
            self.layout,
            cores=self.cores,
            lanes=self.lanes,
            windows=(self.window_r, self.window_s),
            slack=self.slack,
            link_queue=self.link_queue,
            jobs=self.job_queue,
            flight=self.flight,
        )

    @property
    def holds_back(self) -> str | None:
        return "tuples at rest meet only as later ones push them on" if self.cores > 1 else None

    @property
    def patience(self) -> int:
        # The longest silence is a drain without results: R pushed through all cores while each of them scans.
        rows = sum(ring.rows for ring in self.handover.rings.values())
        return (self.window_r + self.cores) * (rows + 20) + 1000
