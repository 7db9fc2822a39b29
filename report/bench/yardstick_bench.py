"""What one CPU core joins in a second: what any hardware for a join is to be set beside."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from streamjoin.reference.predicates import parse_predicate
from streamjoin.report.bench.figures import Figure
from streamjoin.report.yardstick.one_core import one_cpu_core
from streamjoin.report.yardstick.processor import processor_name
from streamjoin.sim.tuples.workload import Workload

WINDOWS = (256, 1024, 4096, 16_384, 65_536, 1 << 20)
#: So few that the join itself is measured, and not how fast results can be written.
RESULTS_PER_TUPLE = 0.2
_COMPARISONS = 10**10  # of each scan
_TUPLES = 4_000_000


def workload(spec: str, window: int, streams: int = 2) -> Workload:
    """Alternating tuples of which each makes 0.2 results, on average, once windows of so many are full.

    An arriving tuple meets a window of each other stream; of each of these, ``match_rate * window`` tuples match.
    """
    rate = RESULTS_PER_TUPLE ** (1 / (streams - 1)) / window
    return Workload(streams=streams, predicate=parse_predicate(spec), match_rate=rate)


def lookups(_: Path, *, spec: str, streams: int = 2) -> Iterator[Figure]:
    """A join by hash, or by a scan where that is faster."""
    for window in WINDOWS:
        yield from _figures(spec, window, streams, max(_TUPLES, 4 * streams * window))


def scans(_: Path, *, spec: str) -> Iterator[Figure]:
    """As for a predicate of which nothing can be looked up: each tuple is compared with a whole window."""
    for window in WINDOWS[:-1]:
        tuples = min(_TUPLES, _COMPARISONS // window)
        (figure, *others) = _figures(spec, window, 2, 2 * window + tuples, ("scan",))
        yield from (figure, Figure(f"windows of {window:,}: comparisons", figure.value * window / 1e3, "G/s"), *others)


def _figures(
    spec: str, window: int, streams: int, tuples: int, kernels: Sequence[str] | None = None
) -> Iterator[Figure]:
    generated = workload(spec, window, streams)
    figures = one_cpu_core(generated.predicate, (window,) * streams, generated.slice(0, tuples), kernels=kernels)
    where = f"windows of {window:,}"
    yield Figure(f"{where}, by {figures.kernel}", figures.tuples_per_second / 1e6, "Mtuples/s")
    yield Figure(f"{where}: results a tuple, from the first on", figures.results / tuples, "")


SECTIONS = {
    f"{title}: one CPU core, {processor_name()}": run
    for title, run in {
        "Equal keys": partial(lookups, spec="equi"),
        "Band of ±3": partial(lookups, spec="band:3"),
        "Any predicate, by a scan (here that band)": partial(scans, spec="band:3"),
        "Three streams, equal keys": partial(lookups, spec="equi", streams=3),
        "Five streams, equal keys": partial(lookups, spec="equi", streams=5),
    }.items()
}
