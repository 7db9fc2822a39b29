"""The design ``handshake``, as the registry finds it."""

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.handshake.join import HandshakeJoin
from streamjoin.hdl.handshake.parameters import HandshakeParameters

DESIGN = Design(
    name="handshake",
    summary="lock-step handshake join with merging tree and admission control",
    papers=("000", "001"),
    parameters_type=HandshakeParameters,
    component=HandshakeJoin,
    presets={
        "paper-000": {"cores": 100, "window": 800, "scan": "sequential"},
        "paper-001": {
            "cores": 64,
            "window": 512,
            "scan": "sequential",
            "merger": "three-state",
            "core_queue": 8,
            "merger_queue": 4,
        },
        "parallel-64": {"cores": 64, "window": 512},
    },
)
