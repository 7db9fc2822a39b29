"""The design ``circular``, as the registry finds it."""

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.circular.join import CircularJoin
from streamjoin.hdl.circular.parameters import CircularParameters

DESIGN = Design(
    name="circular",
    summary="a ring of stages, one for each of three to eight streams",
    papers=("004",),
    parameters_type=CircularParameters,
    component=CircularJoin,
    presets={"paper-004": {"streams": 8, "window": 16384, "lanes": 64}},
)
