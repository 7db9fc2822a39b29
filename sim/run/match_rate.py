"""How throughput falls as the match rate rises, measured, beside what one result a cycle allows."""

import dataclasses
from collections.abc import Callable, Iterable

from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload


@dataclasses.dataclass(frozen=True)
class RatePoint:
    """One run. ``limit`` is in tuples a cycle: two at best, and no more than one result a cycle lets through."""

    match_rate: float
    tuples: int
    results: int
    cycles: int
    exact: bool

    @property
    def tuples_per_cycle(self) -> float:
        return self.tuples / self.cycles

    @property
    def results_per_cycle(self) -> float:
        return self.results / self.cycles

    @property
    def limit(self) -> float:
        return min(2.0, self.tuples / self.results) if self.results else 2.0

    @property
    def share_of_limit(self) -> float:
        return self.tuples_per_cycle / self.limit


def measure(
    simulator: Simulator,
    match_rates: Iterable[float],
    tuples: Callable[[float], int],
    *,
    seed: int = 0,
    arrivals: str = "alternating",
) -> list[RatePoint]:
    """One run a match rate, each checked against the reference; ``tuples`` gives the length of each run."""
    points = []
    for rate in match_rates:
        workload = Workload(
            streams=len(simulator.parameters.streams),
            seed=seed,
            match_rate=rate,
            arrivals=arrivals,
            predicate=simulator.parameters.predicate,
            key_width=simulator.parameters.key_width,
        )
        simulation = simulator.run(workload.slice(0, tuples(rate)))
        points.append(
            RatePoint(rate, tuples(rate), len(simulation.numbers), simulation.run.cycles, exact=simulation.exact)
        )
    return points
