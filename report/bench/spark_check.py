"""What the check of a segment costs beside its simulation, for designs that simulate fast and slowly."""

from collections.abc import Iterator
from pathlib import Path

from streamjoin.hdl.registry import find
from streamjoin.report.bench.figures import Figure
from streamjoin.sim.run.simulate import Simulator
from streamjoin.sim.tuples.workload import Workload
from streamjoin.spark_driver.segment_task import run_segment

_TUPLES, _WARM_UP, _TIMES = 200_000, 20_000, 3
_HERE = "streamjoin.report.bench.spark_check:"
_CASES: tuple[tuple[str, dict, float | None], ...] = (
    ("handshake", {"cores": 4, "window": 32}, 0.001),
    ("handshake", {"cores": 8, "window": 64}, 0.001),
    ("handshake", {"cores": 8, "window": 64}, 0.05),
    ("handshake", {"cores": 8, "window": 64, "predicate": "band:5"}, 0.001),
    ("handshake", {"cores": 8, "window": 64, "predicate": "lt"}, 0.001),
    ("handshake", {"cores": 8, "window": 64, "predicate": f"{_HERE}own"}, None),
    ("handshake", {"cores": 8, "window": 64, "predicate": f"{_HERE}opaque"}, None),
    ("handshake", {"cores": 8, "window": 64, "scan": "sequential"}, 0.001),
    ("llhj", {"cores": 4, "window": 64, "index": "hash"}, 0.001),
    ("circular", {"streams": 3, "window": 32}, 0.01),
)


def own(r, s):
    """A predicate of one's own, from which can be told what is near."""
    return (r.key <= s.key + 8) & (s.key <= r.key + 2)


def opaque(r, s):
    """A predicate that tells nothing of the difference of keys: the reference has to compare every pair."""
    return (r.key + s.key >= 1 << 20) & (r.key + s.key <= 1 << 22)


def check(_: Path) -> Iterator[Figure]:
    """The share of the check in a segment's processor time, and how fast it is by itself; the best of three runs."""
    for name, given, rate in _CASES:
        design = find(name)
        parameters = design.parameters(**given)
        workload = Workload(streams=len(parameters.streams), predicate=parameters.predicate, match_rate=rate)
        simulator = Simulator.build(design, parameters)
        run_segment(simulator, workload, 0, _WARM_UP)
        runs = [run_segment(simulator, workload, 0, _TUPLES)["cpu"] for _ in range(_TIMES)]
        cpu = min(runs, key=lambda run: sum(run.values()))
        words = " ".join(f"{option}={str(value).removeprefix(_HERE)}" for option, value in given.items())
        what = f"{name} {words}" + ("" if rate is None else f", match rate {rate}")
        yield Figure(f"{what}: share of the check", cpu["check"] / sum(cpu.values()), "", "<= 0.25")
        yield Figure(f"{what}: the check by itself", _TUPLES / cpu["check"], "tuples/CPU s")
