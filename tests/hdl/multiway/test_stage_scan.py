"""The scan of a stage: each combination meets what its arrival saw, once, as fast as there are lanes."""

from itertools import pairwise

import pytest

from streamjoin.hdl.multiway.stage_scan import StageScan
from streamjoin.hdl.multiway.window_places import WindowPlaces
from tests.hdl.multiway.stage_bench import FLIGHT, CoreBench, combination
from tests.hdl.stream_bench import run


@pytest.mark.parametrize("pause", [0.0, 0.5])
@pytest.mark.parametrize(
    ("predicate", "span", "window", "lanes", "after", "before"),
    [
        ("equi", None, 5, 1, True, True),
        ("equi", 7, 9, 4, False, True),
        ("band:1", None, 7, 3, True, True),
        ("lt", None, 4, 2, False, True),
        ("lt", 5, 6, 8, True, False),
    ],
)
def test_each_combination_meets_what_its_arrival_saw(predicate, span, window, lanes, after, before, pause):
    places, shape = WindowPlaces(window, FLIGHT, lanes), combination(predicate, span)
    bench = CoreBench(
        StageScan(shape, places, 2, after=after, before=before), shape, places, 2, after=after, before=before
    )
    bench.run(pause=pause)
    bench.check()


@pytest.mark.parametrize(("window", "lanes"), [(12, 4), (13, 4), (6, 1)])
def test_a_queue_of_combinations_keeps_all_lanes_busy(window, lanes):
    """A scan of n tuples takes as many cycles as it takes rows, and the next one begins at once."""
    places, shape, ends = WindowPlaces(window, FLIGHT, lanes), combination("equi"), []
    core = StageScan(shape, places, 1, after=True, before=True)

    async def bench(ctx):
        for n in range(window + 3):
            ctx.set(core.passes, 1)
            ctx.set(core.arrival, {"tuple": {"key": 1, "payload": n}, "number": n % FLIGHT, "ahead": 0})
            await ctx.tick()
        ctx.set(core.passes, 0)
        ctx.set(core.i[0].p, {"number": (window + 2) % FLIGHT, "some": 1, "probe": {"previous": {"key": 2}}})
        ctx.set(core.i[0].valid, 1)
        for cycle in range(100):
            _, _, out = await ctx.tick().sample(core.o[0])
            if out.valid:
                assert (out.match.found, out.match.last) == (0, 1)
                ends.append(cycle)

    run(core, bench)
    rows = -(-window // lanes)
    assert len(ends) > 10
    assert {after - before for before, after in pairwise(ends)} == {rows}
