"""Promised cycles: the parallel scan's two tuples a cycle, the sequential scan's states, the nested loop's scan, the
circular join's busy stages, the hash join's one walk for all.

``make bench`` measures the same at full size.
"""

import numpy as np
import pytest

from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.run.match_rate import measure
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload


def simulator(design: str, **given) -> Simulator:
    return Simulator.build(find(design), find(design).parameters(**given))


def cycles_a_command(simulated: Simulator, stream: list[int]) -> set[int]:
    """Distances between the first tuples of successive commands, each of which takes ``stream``, without matches."""
    arrivals = Arrivals(stream=np.tile(stream, 100), key=np.arange(100 * len(stream)))
    accepted = simulated.run(arrivals).run.accepted_cycle
    return set(np.diff(accepted[:: len(stream)]).tolist())


def test_parallel_scan_takes_two_tuples_a_cycle():
    (point,) = measure(simulator("handshake", cores=8, window=64), [0], lambda _: 100_000)
    assert point.exact
    assert point.tuples_per_cycle >= 1.95


@pytest.mark.parametrize("match_rate", [1e-4, 1 / 256, 1 / 128, 0.03, 0.3, 1.0])
def test_parallel_scan_keeps_the_output_busy(match_rate):
    (point,) = measure(simulator("handshake", cores=8, window=64), [match_rate], lambda _: 20_000)
    assert point.exact
    assert point.share_of_limit >= 0.97


def test_skewed_arrivals_keep_the_output_busy():
    points = measure(simulator("handshake", cores=8, window=64), [0.1, 1.0], lambda _: 20_000, arrivals="bursty")
    assert all(point.exact for point in points)
    assert all(point.results_per_cycle >= 0.97 for point in points)


@pytest.mark.parametrize("storage", ["registers", "memory"])
def test_sequential_scan_takes_the_states_of_the_paper(storage):
    simulated = simulator("handshake", cores=3, window_r=12, window_s=15, scan="sequential", storage=storage)
    assert cycles_a_command(simulated, [0, 1]) == {4 + 5 + 5}
    assert cycles_a_command(simulated, [0]) == {5 + 5}
    assert cycles_a_command(simulated, [1]) == {4 + 5}


def test_nested_loop_scans_the_longer_window():
    simulated = simulator("nested-loop", window_r=12, window_s=15)
    assert cycles_a_command(simulated, [0, 1]) == {15 + 4}
    assert cycles_a_command(simulated, [0]) == {15 + 4}
    assert cycles_a_command(simulated, [1]) == {12 + 4}


def test_the_nested_loop_overtakes_the_published_mergers_but_not_ours():
    sizes = {"cores": 16, "window": 128, "scan": "sequential"}
    (published,) = measure(simulator("handshake", **sizes, merger="three-state"), [1.0], lambda _: 512)
    (ours,) = measure(simulator("handshake", **sizes), [1.0], lambda _: 512)
    (baseline,) = measure(simulator("nested-loop", window=128), [1.0], lambda _: 512)
    assert published.tuples_per_cycle < baseline.tuples_per_cycle < ours.tuples_per_cycle


@pytest.mark.parametrize(("streams", "window", "lanes"), [(3, 64, 1), (3, 96, 5), (6, 64, 2)])
def test_every_stage_of_a_ring_is_busy(streams, window, lanes):
    """Each stage compares in every cycle, so throughput grows with the streams."""
    simulated = simulator("circular", streams=streams, window=window, lanes=lanes)
    outcome = simulated.run(Workload(streams=streams, match_rate=0.0).slice(0, 40 * window))
    assert outcome.exact
    accepted = outcome.run.accepted_cycle[2 * streams * window :]
    tuples_a_cycle = (len(accepted) - 1) / (accepted[-1] - accepted[0])
    assert tuples_a_cycle * -(-window // lanes) / streams >= 0.97
    assert tuples_a_cycle >= 0.95 * streams * lanes / window


def test_the_hash_join_takes_a_pair_a_cycle_and_gives_a_result_a_cycle():
    simulated = simulator("hash", window=300, buckets=1024)
    assert cycles_a_command(simulated, [0, 1]) == {1}
    # All that there is matches: then the output is what limits it.
    outcome = simulated.run(Workload(match_rate=1.0).slice(0, 2000))
    assert outcome.exact
    assert len(outcome.numbers) / outcome.run.cycles >= 0.97
    # The two tuples of a pair that comes alone enter together.
    pair = simulated.run(Arrivals(stream=[0, 1], key=[5, 5]))
    assert pair.latencies.tolist() == [22]
