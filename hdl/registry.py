"""All designs by name: what the command line, the tests, the synthesis and Spark read."""

import dataclasses

from amaranth.lib import wiring

from streamjoin.hdl.base.parameters import CommonParameters, ParameterError
from streamjoin.hdl.bisort.join import BisortJoin, BisortParameters
from streamjoin.hdl.circular.join import CircularJoin, CircularParameters
from streamjoin.hdl.handshake.join import HandshakeJoin, HandshakeParameters
from streamjoin.hdl.handshake_async.join import AsynchronousHandshakeJoin, AsynchronousHandshakeParameters
from streamjoin.hdl.llhj.join import LowLatencyJoin, LowLatencyParameters
from streamjoin.hdl.nested_loop.join import NestedLoopJoin, NestedLoopParameters
from streamjoin.hdl.stashed.join import StashedJoin, StashedParameters
from streamjoin.reference.wording import shown


@dataclasses.dataclass(frozen=True)
class Design:
    """A kind of join: its name, what it is, and how to make one.

    ``presets`` are named parameter sets that tests, synthesis and documentation share.
    """

    name: str
    summary: str
    papers: tuple[str, ...]
    parameters: type[CommonParameters]
    component: type[wiring.Component]
    presets: dict[str, dict[str, object]]


DESIGNS = {
    design.name: design
    for design in (
        Design(
            "nested-loop",
            "one core, both windows scanned one comparison a cycle",
            ("001",),
            NestedLoopParameters,
            NestedLoopJoin,
            {"paper-001": {"window": 512}},
        ),
        Design(
            "handshake",
            "lock-step handshake join with merging tree and admission control",
            ("000", "001"),
            HandshakeParameters,
            HandshakeJoin,
            {
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
        ),
        Design(
            "handshake-async",
            "handshake join with message queues: cores stall each for themselves",
            ("000",),
            AsynchronousHandshakeParameters,
            AsynchronousHandshakeJoin,
            {"paper-000": {"cores": 40, "window": 2560}},
        ),
        Design(
            "llhj",
            "low-latency handshake join: tuples rush past all cores and rest at one",
            ("002",),
            LowLatencyParameters,
            LowLatencyJoin,
            {"paper-002": {"cores": 40, "window": 2560}},
        ),
        Design(
            "bisort",
            "PanJoin's chained subwindows, each a sorted array with an index: batches are merged and looked up",
            ("003",),
            BisortParameters,
            BisortJoin,
            {
                "sorted-1k": {
                    "window": 1024,
                    "subwindow": 512,
                    "partitions": 16,
                    "batch": 128,
                    "mergers": 4,
                    "probers": 2,
                },
                # PanJoin's board: two channels of DDR3-1066, 17 GB/s at 250 MHz; as many units, and smaller windows.
                "ddr3-1066": {
                    "window": 4096,
                    "subwindow": 4096,
                    "partitions": 64,
                    "batch": 256,
                    "mergers": 8,
                    "probers": 4,
                    "bandwidth": 68,
                    "latency": 30,
                },
            },
        ),
        Design(
            "circular",
            "a ring of stages, one for each of three to eight streams",
            ("004",),
            CircularParameters,
            CircularJoin,
            {"paper-004": {"streams": 8, "window": 16384, "lanes": 64}},
        ),
        Design(
            "stashed",
            "three streams in two stages, with a stash of what two of them have found together",
            ("004",),
            StashedParameters,
            StashedJoin,
            {"sparse": {"window": 1024, "lanes": 22, "second_lanes": 2, "stash": 512}},
        ),
    )
}


def find(name: str) -> Design:
    """The design of this name; the error names all there are."""
    if name not in DESIGNS:
        raise ParameterError(f"there is no design {shown(name)}; there are {', '.join(DESIGNS)}")
    return DESIGNS[name]
