"""What points are compared by: each metric knows its unit, and which direction is better."""

import dataclasses
from collections.abc import Callable, Sequence

POST_ROUTE = "post-route"
ENOUGH_LATENCIES = 1000


@dataclasses.dataclass(frozen=True)
class Metric:
    """A figure of a row of a sweep.

    Parameters
    ----------
    name : in CSV and JSON
    label, unit : for people
    better : ``"higher"`` or ``"lower"``
    of : the figure, from a row as :meth:`streamjoin.synth.sweep.run.Sweep.rows` gives it; ``None`` if there is none
    by_target : whether only figures on the same device may be compared
    by_clock : whether it rests on the clock, and is an estimate where that is one
    """

    name: str
    label: str
    unit: str
    better: str
    of: Callable[[dict], float | None] = dataclasses.field(repr=False, compare=False)
    by_target: bool = False
    by_clock: bool = False

    def __post_init__(self):
        if self.better not in ("higher", "lower"):
            raise ValueError(f"better is 'higher' or 'lower', not {self.better!r}")

    def is_better(self, one: float, other: float) -> bool:
        return one > other if self.better == "higher" else one < other

    def best(self, rows: Sequence[dict]) -> set[int]:
        """The rows (by position) that nothing comparable beats; none where more than half of them are alike."""
        groups: dict[str | None, dict[int, float]] = {}
        for position, row in enumerate(rows):
            if (value := self.of(row)) is not None and is_sound(row):
                groups.setdefault(row["target"] if self.by_target else None, {})[position] = value
        found = set()
        for values in groups.values():
            top = (max if self.better == "higher" else min)(values.values())
            best = {position for position, value in values.items() if value == top}
            if 2 * len(best) <= len(values):
                found |= best
        return found

    def is_estimate(self, row: dict) -> bool:
        return self.by_clock and clock_of(row) not in (None, POST_ROUTE)

    def text(self, value: float | None) -> str:
        """The figure with three or four digits that matter, without the unit."""
        if value is None:
            return ""
        return f"{value:,.0f}" if abs(value) >= 1000 or value == int(value) else f"{value:.3g}"


def clock_of(row: dict) -> str | None:
    """What the clock of a row rests on, if it has one."""
    return row["cost"]["clock"] if fmax(row) is not None else None


#: Failures that say that a design is wrong, not that it could not be measured.
WRONG = ("wrong result", "misbehaves")


def is_sound(row: dict) -> bool:
    """Whether every result was right: a design that errs is the best at nothing."""
    exact = all(run["check"] == "exact" for run in row["runs"])
    return exact and not any(failure["kind"] in WRONG for failure in row["failures"])


def fmax(row: dict, which: str = "median") -> float | None:
    """The clock in MHz: the median of all seeds, or ``min`` or ``max``."""
    return ((row["cost"] or {}).get("fmax_mhz") or {}).get(which)


def quiet_run(row: dict) -> dict | None:
    """The run with the fewest matches: how fast tuples go in when the output does not matter."""
    return min(row["runs"], key=_rate, default=None)


def telling_run(row: dict) -> dict | None:
    """The run with the fewest matches that has results enough for its latencies to tell something, or the most."""
    enough = [run for run in row["runs"] if run["results"] >= ENOUGH_LATENCIES]
    most = sorted((run for run in row["runs"] if run["results"]), key=lambda run: run["results"])[-1:]
    return min(enough or most, key=_rate, default=None)


def nothing_matched(row: dict) -> list[str]:
    """At which match rates a row has no results though there might have been; a rate of 0 asks for none."""
    silent = [run for run in row["runs"] if not run["results"] and run["check"] == "exact" and run["match_rate"] != 0]
    return ["uniform keys" if run["match_rate"] is None else f"{100 * run['match_rate']:g} %" for run in silent]


def tuples_per_second(row: dict, run: dict | None) -> float | None:
    """Cycles from the simulation times the clock of the same netlist; ``None`` if they are not of the same."""
    clock = fmax(row)
    if run is None or clock is None or run["verilog"] != row["cost"]["verilog"]:
        return None
    return run["tuples_per_cycle"] * clock * 1e6


def _rate(run: dict) -> float:
    return -1.0 if run["match_rate"] is None else run["match_rate"]


def _millions_per_second(row: dict) -> float | None:
    rate = tuples_per_second(row, quiet_run(row))
    return None if rate is None else rate / 1e6


def _tuples_per_cycle(row: dict) -> float | None:
    run = quiet_run(row)
    return None if run is None else run["tuples_per_cycle"]


def _share_of_limit(row: dict) -> float | None:
    return min((100 * run["tuples_per_cycle"] / run["limit"] for run in row["runs"]), default=None)


def _latency(which: str) -> Callable[[dict], float | None]:
    def of(row: dict) -> float | None:
        run = telling_run(row)
        return None if run is None else run["latency_cycles"][which]

    return of


def _latency_ns(row: dict) -> float | None:
    run, cycles, clock = telling_run(row), _latency("p50")(row), fmax(row)
    if run is None or cycles is None or clock is None or run["verilog"] != row["cost"]["verilog"]:
        return None
    return 1e3 * cycles / clock


def _area(cells: str) -> Callable[[dict], float | None]:
    return lambda row: row["cost"] and row["cost"][cells]


def _comparisons_per_kilolut(row: dict) -> float | None:
    comparisons, luts = row["comparisons_per_cycle"], _area("luts")(row)
    return 1000 * comparisons / luts if comparisons and luts else None


METRICS = {
    metric.name: metric
    for metric in (
        Metric("tuples_per_second", "throughput", "Mtuples/s", "higher", _millions_per_second, True, True),
        Metric("fmax", "clock", "MHz", "higher", fmax, True, True),
        Metric("tuples_per_cycle", "input", "tuples/cycle", "higher", _tuples_per_cycle),
        Metric("share_of_limit", "share of limit", "%", "higher", _share_of_limit),
        Metric("latency_p50", "latency, median", "cycles", "lower", _latency("p50")),
        Metric("latency_p99", "latency, 99 %", "cycles", "lower", _latency("p99")),
        Metric("latency_ns", "latency, median", "ns", "lower", _latency_ns, True, True),
        Metric("luts", "LUT", "", "lower", _area("luts"), True),
        Metric("ffs", "FF", "", "lower", _area("ffs"), True),
        Metric("brams", "block RAM", "", "lower", _area("brams"), True),
        Metric("comparisons_per_cycle", "comparisons", "/cycle", "higher", lambda row: row["comparisons_per_cycle"]),
        Metric(
            "comparisons_per_kilolut",
            "comparisons per 1000 LUT",
            "/cycle",
            "higher",
            _comparisons_per_kilolut,
            True,
        ),
    )
}
