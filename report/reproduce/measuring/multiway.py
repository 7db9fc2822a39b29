"""Throughput of multi-way joins in the course of a run, as the figures of Najafi et al. 2018 look at it."""

from itertools import pairwise

import numpy as np

from streamjoin.hdl.multiway.parameters import MultiwayParameters
from streamjoin.hdl.registry import find
from streamjoin.reference.errors import DesignError
from streamjoin.sim.run.simulate import Simulation, Simulator
from streamjoin.sim.tuples.workload import Workload

POINTS = 40


def simulate(design: str, given: dict, match_rate: float, tuples: int, *, loses: bool = False) -> Simulation:
    """A run of arrivals in turns; DesignError if it is not exact, but for results that a design ``loses``."""
    found = find(design)
    simulator = Simulator.build(found, found.parameters(**given))
    workload = Workload(streams=len(simulator.parameters.streams), match_rate=match_rate)
    simulation = simulator.run(workload.slice(0, tuples))
    wrong = simulation.known_difference.counts
    if not simulation.exact and not (loses and wrong["extra"] == wrong["repeated"] == 0):
        raise DesignError(f"{design} gives another result than the reference: {simulation.known_difference.describe()}")
    return simulation


def steady_rate(simulation: Simulation) -> float:
    """Tuples a cycle once all windows are full, for those that are compared then and not only let in."""
    p, accepted = simulation.simulator.parameters, simulation.run.accepted_cycle
    assert isinstance(p, MultiwayParameters)
    full = len(p.streams) * max(p.windows) + p.flight
    return (len(accepted) - 1 - full) / float(accepted[-1] - accepted[full])


def course(simulation: Simulation, points: int = POINTS) -> list[dict]:
    """Tuples a cycle in the course of a run; each point stands for as many tuples in a row."""
    accepted = simulation.run.accepted_cycle
    ends = np.linspace(0, len(accepted) - 1, points + 1).astype(int)
    return [
        {"tuples": int(end), "tuples_per_cycle": float((end - start) / (accepted[end] - accepted[start]))}
        for start, end in pairwise(ends)
    ]
