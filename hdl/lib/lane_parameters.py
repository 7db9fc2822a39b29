"""The parameter of comparators side by side."""

import dataclasses

from streamjoin.hdl.base.parameters import JoinParameters, parameter


@dataclasses.dataclass(frozen=True, kw_only=True)
class LaneParameters(JoinParameters):
    """Parameters of a join that compares several tuples of a window in a cycle."""

    lanes: int = parameter(
        1, "tuples of a window that a core, or stage, compares in a cycle", samples=(1, 1, range(2, 7))
    )
