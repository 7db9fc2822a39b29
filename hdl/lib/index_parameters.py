"""The parameters of a hash index: whether a core scans all it holds, or looks up the bucket of a key."""

import typing

from streamjoin.hdl.base.parameters import ParameterError

#: The values of the parameter ``index``.
INDEXES = ("none", "hash")


def check_index(parameters) -> None:
    """ParameterError where ``index`` and ``buckets`` do not go with each other or with the rest."""
    p = parameters
    if p.index == "none":
        if p.buckets is not None:
            raise ParameterError("buckets belong to an index: add index=hash or leave them out")
        return
    if not p.predicate.is_equi:
        raise ParameterError(f"index=hash finds equal keys only: use predicate=equi, not {p.predicate.spec}")
    if p.lanes != 1:
        raise ParameterError(f"index=hash goes from tuple to tuple: use lanes=1, not {p.lanes}")
    if p.buckets is not None and (p.buckets < 1 or p.buckets & (p.buckets - 1)):
        raise ParameterError(f"buckets must be a power of two, not {p.buckets}")


def reconciled_index(drawn: dict[str, typing.Any]) -> dict[str, typing.Any]:
    """Drawn values, of which ``index`` decides over others: see :meth:`JoinParameters.reconciled`."""
    if drawn["index"] == "none":
        return drawn | {"buckets": None}
    return drawn | {"predicate": "equi", "lanes": 1}
