"""What a predicate tells of how far apart two keys are.

A predicate adds, subtracts and compares the fields of two tuples ``r`` and ``s``. Where it compares no more than the
difference of their keys with a number, the ranges of differences for which it holds are known, and whoever searches can
go by them: no predicate has to say in a second way what it means.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from typing import TypeVar

from .expressions import Comparison, Expression, folded

Ranges = tuple[tuple[int | None, int | None], ...]
ClosedRanges = tuple[tuple[int, int], ...]
_Spans = tuple[tuple[float, float], ...]
_Number = TypeVar("_Number", int, float)

_ALL: _Spans = ((-inf, inf),)


@dataclass(frozen=True)
class KeyRanges:
    """Ranges (lo, hi) of differences of r and s, both ends included and None for an open end; disjoint and ascending.

    Parameters
    ----------
    key, key2 : whenever the predicate holds, ``r.key - s.key`` lies in one of the ranges of ``key``, and likewise
        key2; None if nothing is known
    exact : whether the predicate holds whenever both lie there, too
    """

    key: Ranges | None = None
    key2: Ranges | None = None
    exact: bool = False


def key_ranges(expression: Expression) -> KeyRanges:
    """What a predicate tells of the differences of its fields."""
    told = folded(expression, _told)
    if not (told.key and told.key2):
        return KeyRanges()
    return KeyRanges(_known(told.key), _known(told.key2), told.exact)


def merged(ranges: Iterable[tuple[_Number, _Number]]) -> tuple[tuple[_Number, _Number], ...]:
    """The same integers in as few ranges as possible: no pair lies in two, and no comparator is wasted."""
    whole = []
    for lo, hi in sorted(ranges):
        if whole and lo <= whole[-1][1] + 1:
            whole[-1] = (whole[-1][0], max(hi, whole[-1][1]))
        else:
            whole.append((lo, hi))
    return tuple(whole)


def closed(ranges: Ranges | None) -> ClosedRanges | None:
    """The ranges, if they are known and none of them is open."""
    if ranges is None:
        return None
    bounded = tuple((lo, hi) for lo, hi in ranges if lo is not None and hi is not None)
    return bounded if len(bounded) == len(ranges) else None


def _known(spans: _Spans) -> Ranges | None:
    if spans == _ALL:
        return None
    return tuple((None if lo == -inf else int(lo), None if hi == inf else int(hi)) for lo, hi in spans)


def _common(some: _Spans, others: _Spans) -> _Spans:
    pairs = ((max(a[0], b[0]), min(a[1], b[1])) for a in some for b in others)
    return tuple((lo, hi) for lo, hi in pairs if lo <= hi)


@dataclass(frozen=True)
class _Told:
    """What a condition tells: as :class:`KeyRanges`, with infinite ends."""

    key: _Spans = _ALL
    key2: _Spans = _ALL
    exact: bool = False

    def __and__(self, other: "_Told") -> "_Told":
        return _Told(_common(self.key, other.key), _common(self.key2, other.key2), self.exact and other.exact)

    def __or__(self, other: "_Told") -> "_Told":
        # Two rectangles make a third one if they agree in one of their sides.
        aligned = self.key == other.key or self.key2 == other.key2
        return _Told(
            merged(self.key + other.key), merged(self.key2 + other.key2), self.exact and other.exact and aligned
        )


_SPANS: dict[str, Callable[[int], _Spans]] = {
    "==": lambda number: ((number, number),),
    "!=": lambda number: ((-inf, number - 1), (number + 1, inf)),
    "<": lambda number: ((-inf, number - 1),),
    "<=": lambda number: ((-inf, number),),
    ">": lambda number: ((number + 1, inf),),
    ">=": lambda number: ((number, inf),),
}


def _told(comparison: Comparison) -> _Told:
    """What a comparison tells, whatever the width of keys."""
    if not comparison.terms:
        return _Told(exact=True) if comparison.decided else _Told((), ())
    spans = _SPANS[comparison.relation](comparison.number)
    for field in ("key", "key2"):
        if comparison.difference == (("r", field), ("s", field)):
            return _Told(**{field: spans}, exact=True)
        if comparison.difference == (("s", field), ("r", field)):
            return _Told(**{field: tuple((-hi, -lo) for lo, hi in reversed(spans))}, exact=True)
    return _Told()
