"""What joins of more than two streams share."""

import dataclasses

from streamjoin.hdl.combination import Combination
from streamjoin.hdl.merger import LEAST_QUEUE
from streamjoin.hdl.parameters import CommonParameters, ParameterError, parameter


@dataclasses.dataclass(frozen=True, kw_only=True)
class MultiwayParameters(CommonParameters):
    """Parameters of all multi-way joins."""

    lanes: int = parameter(1, "tuples of a window that a stage compares in a cycle")
    flight: int = parameter(64, "arrivals under way: so many tuples a stage keeps beyond its window")
    buffer: int = parameter(4, "intermediate results that may wait for a stage, for each depth, besides their reserve")
    result_queue: int = parameter(4, "results that may wait in a stage, besides their reserve")
    merger_queue: int = parameter(4, "results that fit in a merger, from 2 up")
    fan: int = parameter(4, "branches of the control trees, from 2 up")

    def __post_init__(self):
        super().__post_init__()
        if self.merger_queue < LEAST_QUEUE:
            raise ParameterError(f"merger_queue must be at least {LEAST_QUEUE}, not {self.merger_queue}")
        if self.fan < 2:
            raise ParameterError(f"fan must be at least 2, not {self.fan}")

    @property
    def combination(self) -> Combination:
        return Combination(self.pairing, self.flight)
