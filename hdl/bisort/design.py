"""The design ``bisort``, as the registry finds it."""

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.bisort.join import BisortJoin
from streamjoin.hdl.bisort.parameters import BisortParameters

DESIGN = Design(
    name="bisort",
    summary="PanJoin's chained subwindows, each a sorted array with an index: batches are merged and looked up",
    papers=("003",),
    parameters_type=BisortParameters,
    component=BisortJoin,
    presets={
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
)
