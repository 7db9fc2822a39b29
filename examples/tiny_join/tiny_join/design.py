"""The design ``tiny-join``, as streamjoin finds it."""

from streamjoin.hdl.base.design import Design
from tiny_join.join import TinyJoin
from tiny_join.parameters import TinyParameters

DESIGN = Design(
    name="tiny-join",
    summary="one core, windows in registers, each tuple compared with the other window at once",
    parameters_type=TinyParameters,
    component=TinyJoin,
    presets={"smallest": {"window": 1, "queue": 1}},
)
