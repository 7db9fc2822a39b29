"""Parameters that all message-chain joins share."""

import dataclasses

from streamjoin.hdl.base.parameters import TwoStreamParameters, parameter
from streamjoin.hdl.lib.tree_parameters import MergerParameters


@dataclasses.dataclass(frozen=True, kw_only=True)
class MessageChainParameters(MergerParameters, TwoStreamParameters):
    """Parameters of all message-chain joins."""

    cores: int = parameter(8, "join cores in the chain", samples=(1, 2, 3, range(1, 13)))
    lanes: int = parameter(1, "tuples of a window that a core compares in a cycle", samples=(1, 1, range(2, 7)))
    comparators: str = parameter("shared", "one lot for both windows, or one for each", ("shared", "apart"))
    link_queue: int = parameter(2, "messages that may wait in a core, from each side", samples=range(1, 4))
    job_queue: int = parameter(4, "jobs that may wait in a core, for each window", samples=range(1, 5))
    flight: int = parameter(2, "tuples of S that a core keeps until they are acknowledged", samples=range(1, 4))
    core_queue: int = parameter(8, "results that may wait in each lane, besides its reserve", samples=range(1, 5))

    @property
    def comparisons_per_cycle(self) -> int:
        """Comparisons that all cores together make in a cycle, at most."""
        return self.cores * self.lanes * (1 if self.comparators == "shared" else 2)
