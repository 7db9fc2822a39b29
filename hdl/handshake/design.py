"""The design ``handshake``, as the registry finds it."""

from collections.abc import Mapping
from typing import Any

from streamjoin.hdl.base.design import Design, Published
from streamjoin.hdl.handshake.join import HandshakeJoin
from streamjoin.hdl.handshake.parameters import HandshakeParameters

#: The segments of the chain whose clock Teubner and Mueller measured.
_SEGMENT = 8


def _keeps_segments(parameters: Mapping[str, Any]) -> bool:
    """Whether each core holds as many tuples of either stream as in the figure."""
    return parameters["window_r"] == parameters["window_s"] == _SEGMENT * parameters["cores"]


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
    published=(
        Published(
            metric="fmax",
            value=150,
            paper="000",
            place="figure 18",
            device="Virtex-6",
            applies=_keeps_segments,
        ),
    ),
)
