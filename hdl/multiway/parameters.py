"""Parameters that all multi-way joins share."""

import dataclasses

from streamjoin.hdl.base.parameters import Group, parameter
from streamjoin.hdl.lib.tree_parameters import TreeParameters
from streamjoin.hdl.multiway.combination import Combination


@dataclasses.dataclass(frozen=True, kw_only=True)
class MultiwayParameters(TreeParameters):
    """Parameters of all multi-way joins."""

    span: int | None = parameter(
        None,
        "time-based windows of this length; none: windows count tuples",
        group=Group.SPANS,
        samples=(None, None, range(1, 31)),
    )
    lanes: int = parameter(1, "tuples of a window that a stage compares in a cycle", samples=(1, 1, range(2, 7)))
    flight: int = parameter(
        64, "arrivals under way: so many tuples a stage keeps beyond its window", samples=(range(1, 4), range(1, 41))
    )
    buffer: int = parameter(
        4, "intermediate results that may wait for a stage, for each depth, besides their reserve", samples=range(1, 4)
    )
    result_queue: int = parameter(4, "results that may wait in a stage, besides their reserve", samples=range(1, 4))

    @property
    def spans(self) -> tuple[int, ...] | None:
        return None if self.span is None else (self.span,) * len(self.streams)

    @property
    def combination(self) -> Combination:
        return Combination(self.layout, self.flight)
