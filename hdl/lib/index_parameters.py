"""The parameters of a hash index: whether a core scans all it holds, or looks up the bucket of a key."""

import dataclasses
import typing

from streamjoin.hdl.base.parameters import ParameterError, parameter
from streamjoin.hdl.lib.lane_parameters import LaneParameters


@dataclasses.dataclass(frozen=True, kw_only=True)
class IndexParameters(LaneParameters):
    """Parameters of a join that may have an index in each core, or stage."""

    index: str = parameter(
        "none", "scan all that a core holds, or look only at what hashes to the same bucket", ("none", "hash")
    )
    buckets: int | None = parameter(
        None,
        "buckets in each core, a power of two; none: about one for each tuple",
        samples=(None, 1, 2, 4, 8, 16, 32, 64),
    )

    def __post_init__(self):
        super().__post_init__()
        if self.index == "none":
            if self.buckets is not None:
                raise ParameterError("buckets belong to an index: add index=hash or leave them out")
            return
        if not self.predicate.is_equi:
            raise ParameterError(f"index=hash finds equal keys only: use predicate=equi, not {self.predicate.spec}")
        if self.lanes != 1:
            raise ParameterError(f"index=hash goes from tuple to tuple: use lanes=1, not {self.lanes}")
        if self.buckets is not None and (self.buckets < 1 or self.buckets & (self.buckets - 1)):
            raise ParameterError(f"buckets must be a power of two, not {self.buckets}")

    @classmethod
    def reconciled(cls, drawn: dict[str, typing.Any]) -> dict[str, typing.Any]:
        drawn = super().reconciled(drawn)
        return drawn | ({"buckets": None} if drawn["index"] == "none" else {"predicate": "equi", "lanes": 1})
