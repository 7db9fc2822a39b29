"""Parameters of the trees that join cores to the rest: merging trees for results, control trees for all else."""

import dataclasses

from streamjoin.hdl.base.parameters import Group, JoinParameters, ParameterError, parameter
from streamjoin.hdl.lib.merger import LEAST_QUEUE, MERGERS


@dataclasses.dataclass(frozen=True, kw_only=True)
class TreeParameters(JoinParameters):
    """Parameters of a join with a merging tree and control trees."""

    merger_queue: int = parameter(
        4, f"results that fit in a merger, from {LEAST_QUEUE} up", group=Group.TREES, samples=range(2, 6)
    )
    fan: int = parameter(4, "branches of the control trees, from 2 up", group=Group.TREES, samples=range(2, 6))

    def __post_init__(self):
        super().__post_init__()
        if self.merger_queue < LEAST_QUEUE:
            raise ParameterError(f"merger_queue must be at least {LEAST_QUEUE}, not {self.merger_queue}")
        if self.fan < 2:
            raise ParameterError(f"fan must be at least 2, not {self.fan}")


@dataclasses.dataclass(frozen=True, kw_only=True)
class MergerParameters(TreeParameters):
    """Parameters of a join whose merging tree may be made of mergers of several kinds."""

    merger: str = parameter(
        "streaming",
        "one result a cycle, or the three states of Oge et al. 2011",
        tuple(MERGERS),
        group=Group.TREES,
    )
