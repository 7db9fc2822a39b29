"""The design ``stashed``, as the registry finds it."""

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.stashed.join import StashedJoin
from streamjoin.hdl.stashed.parameters import StashedParameters

DESIGN = Design(
    name="stashed",
    summary="three streams in two stages, with a stash of what two of them have found together",
    papers=("004",),
    parameters_type=StashedParameters,
    component=StashedJoin,
    presets={"sparse": {"window": 1024, "lanes": 22, "second_lanes": 2, "stash": 512}},
)
