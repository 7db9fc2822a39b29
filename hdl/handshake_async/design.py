"""The design ``handshake-async``, as the registry finds it."""

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.handshake_async.join import AsynchronousHandshakeJoin
from streamjoin.hdl.handshake_async.parameters import AsynchronousHandshakeParameters

DESIGN = Design(
    name="handshake-async",
    summary="handshake join with message queues: cores stall each for themselves",
    papers=("000",),
    parameters_type=AsynchronousHandshakeParameters,
    component=AsynchronousHandshakeJoin,
    presets={"paper-000": {"cores": 40, "window": 2560}},
)
