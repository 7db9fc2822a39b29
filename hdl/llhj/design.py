"""The design ``llhj``, as the registry finds it."""

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.llhj.join import LowLatencyJoin
from streamjoin.hdl.llhj.parameters import LowLatencyParameters

DESIGN = Design(
    name="llhj",
    summary="low-latency handshake join: tuples rush past all cores and rest at one",
    papers=("002",),
    parameters_type=LowLatencyParameters,
    component=LowLatencyJoin,
    presets={"paper-002": {"cores": 40, "window": 2560}},
)
