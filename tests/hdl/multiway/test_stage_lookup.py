"""The lookup of a stage: each combination meets what its arrival saw of its bucket, once."""

import pytest

from streamjoin.hdl.multiway.stage_lookup import StageLookup
from streamjoin.hdl.multiway.window_places import WindowPlaces
from tests.hdl.multiway.stage_bench import FLIGHT, CoreBench, combination


@pytest.mark.parametrize("pause", [0.0, 0.5])
@pytest.mark.parametrize(("span", "window", "buckets", "keys"), [(None, 5, 4, 4), (7, 9, 1, 3), (None, 12, 8, 8)])
def test_each_combination_meets_what_its_arrival_saw(span, window, buckets, keys, pause):
    places, shape = WindowPlaces(window, FLIGHT, 1), combination("equi", span)
    bench = CoreBench(StageLookup(shape, places, 2, buckets=buckets), shape, places, 2, warm_up=buckets)
    bench.run(pause=pause, keys=keys, rounds=14)
    bench.check()


def test_one_lane_only():
    with pytest.raises(ValueError, match="rows of one tuple, not 2"):
        StageLookup(combination("equi"), WindowPlaces(4, FLIGHT, 2), 2, buckets=4)
