"""The design ``hash``, as the registry finds it."""

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.part import Part
from streamjoin.hdl.hash.join import HashJoin
from streamjoin.hdl.hash.parameters import HashParameters
from streamjoin.hdl.hash.wide_join import WideHashJoin


def hash_join(parameters: HashParameters) -> Part:
    """The hardware: one pipeline, or where several tuples come in a cycle, a network of units."""
    return HashJoin(parameters) if parameters.width == 1 else WideHashJoin(parameters)


DESIGN = Design(
    name="hash",
    summary="hash join of whole windows in one pipeline, two tuples a cycle and more",
    parameters_type=HashParameters,
    component=hash_join,
    presets={
        "equi-4k": {"window": 4096},
        "band-4k": {"window": 4096, "predicate": "band:3"},
        "wide-4k": {"window": 4096, "width": 4},
    },
)
