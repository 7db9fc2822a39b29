"""A sweep: every point of a grid simulated, checked and, with targets, synthesised; finished parts are kept.

Run again with the same settings and folder, it goes on where it was left. A part is measured anew only if something
it depends on has changed: parameters, sources of the hardware, versions of tools. Failures that may pass (a missing
tool, want of time or memory) are tried again as well.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.support.files import InputError
from streamjoin.synth.flow.cost import measure
from streamjoin.synth.flow.targets import find as find_target
from streamjoin.synth.sweep.arithmetic import evaluate
from streamjoin.synth.sweep.grid import Grid, GridPoint
from streamjoin.synth.sweep.jobs import Job, Measure, Simulate, Synthesise
from streamjoin.synth.sweep.store import Store
from streamjoin.synth.sweep.workers import Task, run_tasks

#: The kind of failure of a run whose time-based windows had no room for their spans.
OVERFLOW = "missing by overflow"
DEFAULT_RATES = (0.0, 1e-4, 1e-3, 0.01, 0.1, 1.0)


@dataclasses.dataclass(frozen=True)
class SweepSettings:
    """What is measured at every point of the grid.

    Parameters
    ----------
    match_rates : a simulation for each; ``None`` among them means keys that are uniform
    tuples : of each simulation; fewer where matches are so many that the results would be more than enough
    targets : devices to synthesise for; none: simulations only
    seeds : of place and route, a number or an expression of parameters: ``3-2*(cores//32)``
    """

    match_rates: tuple[float | None, ...] = DEFAULT_RATES
    tuples: int = 20_000
    targets: tuple[str, ...] = ()
    seeds: int | str = 1

    def seeds_of(self, point: GridPoint) -> int:
        """How many seeds this point gets: large designs take long."""

        def value_of(name: str) -> int:
            if isinstance(value := point.parameters.as_dict().get(name), int):
                return value
            raise ParameterError(f"--seeds needs {name}, which is no number of {point.design.name}: give a number")

        seeds = evaluate(str(self.seeds), value_of)
        if seeds < 1:
            raise ParameterError(f"--seeds {self.seeds} makes {seeds} for {point.choices}: it must be at least 1")
        return seeds


@dataclasses.dataclass(frozen=True)
class Sweep:
    """A grid, what to measure, and the folder that keeps it; ``measure`` may be stood in for."""

    grid: Grid
    settings: SweepSettings
    folder: Path
    measure: Measure = measure

    def __post_init__(self):
        if not self.grid.points:
            first = self.grid.refusals[0]
            raise ParameterError(f"no combination of these parameters makes a {first.design}: {first.sentence}")
        for target in self.settings.targets:
            find_target(target)
        for point in self.grid.points:
            self.settings.seeds_of(point)
            Simulate(point, self.settings.match_rates, self.settings.tuples).check_numbering()
        try:
            self.store.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.folder} cannot be made a folder ({error.strerror}): name another") from error

    @property
    def store(self) -> Store:
        return Store(self.folder / "points")

    def jobs(self) -> list[Job]:
        """Simulations first: they are quick, and tell whether the rest is worth the wait."""
        points, settings = self.grid.points, self.settings
        return [
            *(Simulate(point, settings.match_rates, settings.tuples) for point in points),
            *(
                Synthesise(point, target, settings.seeds_of(point), self.measure)
                for target in settings.targets
                for point in points
            ),
        ]

    def run(
        self,
        *,
        processes: int = 1,
        timeout: float | None = None,
        progress: Callable[[int, int], None] = lambda _done, _of: None,
    ) -> None:
        """Do all that is not done yet; ``progress`` gets the parts done and all there are."""
        store = self.store
        every = [(job, job.parts()) for job in self.jobs()]
        for part in (part for _, parts in every for part in parts):
            outcome = store.load(part)
            if outcome is None or outcome.get("failure", {}).get("passing"):
                store.forget(part)
        tasks = [Task(job, [part for part in parts if not store.has(part)]) for job, parts in every]

        def tell() -> None:
            progress(sum(store.has(part) for _, parts in every for part in parts), sum(len(p) for _, p in every))

        tell()
        run_tasks([task for task in tasks if task.parts], store, processes=processes, timeout=timeout, progress=tell)

    def rows(self) -> list[dict]:
        """Plain data: a row for each point and target, with whatever has been measured so far."""
        return [self._row(point, target) for point in self.grid.points for target in self.settings.targets or (None,)]

    def _row(self, point: GridPoint, target: str | None) -> dict:
        simulate = Simulate(point, self.settings.match_rates, self.settings.tuples)
        outcomes = [("simulation", self.store.load(part)) for part in simulate.parts()]
        cost = None
        if target is not None:
            (part,) = Synthesise(point, target, self.settings.seeds_of(point), self.measure).parts()
            cost = self.store.load(part)
            outcomes.append(("synthesis", cost))
        return {
            "design": point.design.name,
            "choices": point.choices,
            "parameters": point.parameters.as_dict(),
            "comparisons_per_cycle": point.parameters.comparisons_per_cycle,
            "target": target,
            "runs": [outcome for step, outcome in outcomes if step == "simulation" and _is_good(outcome)],
            "cost": cost if _is_good(cost) else None,
            "failures": _failures(outcomes),
        }


def _is_good(outcome: dict | None) -> bool:
    return outcome is not None and "failure" not in outcome


def _failures(outcomes: list[tuple[str, dict | None]]) -> list[dict]:
    """Each failure once, however many parts it hit; runs that differ from the reference are failures, too."""
    failures = []
    for step, outcome in outcomes:
        if outcome is None:
            failure = {"kind": "not finished", "sentence": "not measured yet: run the same command again"}
        elif "failure" in outcome:
            failure = {name: outcome["failure"][name] for name in ("kind", "sentence")}
        elif outcome.get("overflow"):
            failure = {"kind": OVERFLOW, "sentence": f"match rate {outcome['match_rate']}: {outcome['overflow']}"}
        elif outcome.get("check", "exact") != "exact":
            sentence = f"match rate {outcome['match_rate']}: the result differs from the reference: {outcome['check']}"
            failure = {"kind": "wrong result", "sentence": sentence}
        else:
            continue
        if {"step": step, **failure} not in failures:
            failures.append({"step": step, **failure})
    return failures
