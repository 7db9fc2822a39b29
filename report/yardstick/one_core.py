"""What one core of this machine's processor joins in a second, by the best of the ways that we know.

Three programs in C++, compiled for this processor with all it has (``-O3 -march=native``), each exact (`result_array`
gives their results to whoever checks):

``hash``
    N streams by equal keys: one table of buckets that are a cache line each, in which what is alive is told by its
    position (``buckets.cpp``).
``band``
    Two streams whose keys differ by no more or less than a range says: the same with cells of keys as buckets.
``scan``
    Any predicate on two streams: each tuple is compared with the whole of the other window, many keys at a time
    (``scan.cpp``).

What is timed: tuples lie in memory, in arrays of streams (a byte each), keys and payloads (32 bits), in arrival order.
Each of them is read, joined with the other windows, and kept in its own. Each result is written whole, with its keys
and the payloads of all its tuples, into a ring that stays in the nearest cache. The time is that of the core (what
others do on it meanwhile does not count), from the moment in which the untimed tuples have gone through, by default as
many as fill all windows. It contains neither the making of tables nor any transport of tuples to the processor or of
results from it. Tuples are taken in batches of 64 to 128, which hardware need not wait for.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.key_ranges import closed
from streamjoin.reference.predicates import Predicate
from streamjoin.report.yardstick.compiled import Program, Timed
from streamjoin.report.yardstick.cpp_expression import cpp_expression
from streamjoin.report.yardstick.processor import processor_name

KERNELS = ("hash", "band", "scan")
_MOST_STREAMS = 8
_MOST_ROOM = 1 << 25
_MOST_TUPLES = 1 << 31
#: In longer windows a scan is slower than any lookup, by far.
_WORTH_A_SCAN = 1024
_GREATEST = (1 << 63) - 1


@dataclass(frozen=True)
class CpuFigures:
    """The line "one CPU core".

    Attributes
    ----------
    tuples_per_second
        Of all streams together, the best of several runs.
    results
        Of all the arrivals.
    processor
        Its name.
    kernel
        The program that was the fastest: one of ``KERNELS``.
    """

    tuples_per_second: float
    results: int
    processor: str
    kernel: str

    def __str__(self) -> str:
        return f"one CPU core ({self.processor}), by {self.kernel}: {self.tuples_per_second / 1e6:,.1f} M tuples/s"


def one_cpu_core(
    predicate: Predicate,
    windows: Windows | Sequence[int],
    arrivals: Arrivals,
    *,
    untimed: int | None = None,
    repeats: int = 5,
    kernels: Sequence[str] | None = None,
) -> CpuFigures:
    """Join the arrivals with each program that may be the fastest, or each of ``kernels``, ``repeats`` times, and tell
    the best of all runs.

    Give several times as many arrivals as fill the windows, and a million at least where that does not take too long:
    a scan of windows of W makes 10^11 comparisons a second at best. What cannot be joined, such as windows with a
    span, is a ValueError in one sentence.
    """
    windows = _counted(windows)
    if untimed is None:
        untimed = min(sum(windows.rooms), len(arrivals) // 2)
    timed = len(arrivals) - untimed
    if timed < 1:
        raise ValueError(f"{len(arrivals)} tuples, {untimed} of them untimed, leave none to time: give more")
    best: CpuFigures | None = None
    for kernel in kernels or _contenders(predicate, windows, arrivals):
        runs = [_run(kernel, predicate, windows, arrivals, untimed=untimed) for _ in range(repeats)]
        speed = timed / max(min(run.seconds for run in runs), 1e-9)
        if best is None or speed > best.tuples_per_second:
            best = CpuFigures(speed, runs[0].results, processor_name(), kernel)
    assert best is not None
    return best


def kernels_for(predicate: Predicate, windows: Windows | Sequence[int], arrivals: Arrivals) -> tuple[str, ...]:
    """The programs that can join these; the first is the one for windows of any size. ValueError if there is none."""
    windows = _counted(windows)
    windows.check(arrivals)
    if len(arrivals) >= _MOST_TUPLES or max(windows.rooms) > _MOST_ROOM or windows.streams > _MOST_STREAMS:
        raise ValueError(
            f"the yardstick joins up to {_MOST_STREAMS} streams, {_MOST_TUPLES - 1} tuples, and windows of "
            f"{_MOST_ROOM}: give fewer"
        )
    if "key2" in predicate.fields and arrivals.key2 is None:
        raise ValueError(f"predicate {predicate.spec} looks at key2, and these tuples have none: give them one")
    if windows.streams > 2 and not predicate.is_equi:
        raise ValueError(f"the yardstick joins {windows.streams} streams by equal keys only: choose equi")
    if predicate.is_equi:
        return ("hash", "band", "scan") if windows.streams == 2 else ("hash",)
    return ("band", "scan") if _band(predicate, _key_width(arrivals)) else ("scan",)


def result_array(
    kernel: str,
    predicate: Predicate,
    windows: Windows | Sequence[int],
    arrivals: Arrivals,
    key_width: int | None = None,
) -> np.ndarray:
    """All results of one program, each once, in any order: arrival numbers, results × streams, for checking it."""
    windows = _counted(windows)
    if kernel not in kernels_for(predicate, windows, arrivals):
        raise ValueError(f"{kernel} does not join these tuples by {predicate.spec}: choose another kernel")
    count = _run(kernel, predicate, windows, arrivals, key_width=key_width).results
    run = _run(kernel, predicate, windows, arrivals, key_width=key_width, ring=1 << count.bit_length())
    assert run.results == count
    return run.ring["payload"][:count].astype(np.int64)


def _contenders(predicate: Predicate, windows: Windows, arrivals: Arrivals) -> Iterable[str]:
    general, *others = kernels_for(predicate, windows, arrivals)
    return [general, *(["scan"] if others and max(windows.rooms) <= _WORTH_A_SCAN else [])]


def _run(
    kernel: str,
    predicate: Predicate,
    windows: Windows,
    arrivals: Arrivals,
    *,
    key_width: int | None = None,
    **options: int,
) -> Timed:
    width = key_width or _key_width(arrivals)
    streams, keys = windows.streams, 1 if predicate.is_equi else windows.streams
    if kernel == "scan":
        bounds = _bounds(predicate)
        macros = {
            "RANGES": str(len(bounds)),
            "HOLDS": cpp_expression(predicate.expression, 32 if width == 32 else 63),
            "KEY2": str(int("key2" in predicate.fields)),
        }
        program = Program("scan.cpp", streams, width, keys, tuple(macros.items()))
        return program.run(arrivals, windows.rooms, [bound for pair in bounds for bound in pair], **options)
    band = (0, 0) if kernel == "hash" else _band(predicate, width)
    assert band is not None
    program = Program("buckets.cpp", streams, width, keys, (("BAND", str(int(kernel == "band"))),))
    return program.run(arrivals, windows.rooms, band, **options)


def _counted(windows: Windows | Sequence[int]) -> Windows:
    windows = windows if isinstance(windows, Windows) else Windows(windows)
    if windows.spans is not None:
        raise ValueError("the yardstick knows no windows with a span: give it windows of so many tuples")
    return windows


def _key_width(arrivals: Arrivals) -> int:
    """What the keys fit into."""
    columns = [arrivals.key] if arrivals.key2 is None else [arrivals.key, arrivals.key2]
    return 32 if max(int(column.max(initial=0)) for column in columns) < 1 << 32 else 64


def _band(predicate: Predicate, key_width: int) -> tuple[int, int] | None:
    """The range of differences of keys that the predicate is, if it is one and far narrower than the space of keys."""
    ranges = closed(predicate.key_ranges) if predicate.ranges_decide else None
    if ranges is None or len(ranges) != 1:
        return None
    ((low, high),) = ranges
    narrow = max(abs(low), abs(high)) < 1 << (key_width - 3)
    return (low, high) if narrow else None


def _bounds(predicate: Predicate) -> list[tuple[int, int]]:
    """Ranges of differences outside which the predicate never holds, none where nothing is known of them."""
    return [
        (-_GREATEST if low is None else max(low, -_GREATEST), _GREATEST if high is None else min(high, _GREATEST))
        for low, high in predicate.key_ranges or ()
    ]
