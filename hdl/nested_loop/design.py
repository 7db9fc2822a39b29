"""The design ``nested-loop``, as the registry finds it."""

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.nested_loop.join import NestedLoopJoin
from streamjoin.hdl.nested_loop.parameters import NestedLoopParameters

DESIGN = Design(
    name="nested-loop",
    summary="one core, both windows scanned one comparison a cycle",
    papers=("001",),
    parameters_type=NestedLoopParameters,
    component=NestedLoopJoin,
    presets={"paper-001": {"window": 512}},
)
