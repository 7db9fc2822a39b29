"""The design ``hash``, as the registry finds it."""

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.hash.join import HashJoin
from streamjoin.hdl.hash.parameters import HashParameters

DESIGN = Design(
    name="hash",
    summary="hash join of whole windows in one pipeline, two tuples a cycle",
    parameters_type=HashParameters,
    component=HashJoin,
    presets={"equi-4k": {"window": 4096}, "band-4k": {"window": 4096, "predicate": "band:3"}},
)
