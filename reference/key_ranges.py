"""What a predicate tells of how far apart two keys are, found by evaluating its expression on symbols.

A predicate adds, subtracts and compares the fields of two tuples ``r`` and ``s``. Where it compares no more than the
difference of their keys with a number, the ranges of differences for which it holds are known, and whoever searches can
go by them: no predicate has to say in a second way what it means.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf
from types import SimpleNamespace
from typing import Any

Ranges = tuple[tuple[int | None, int | None], ...]
_Spans = tuple[tuple[float, float], ...]

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


def key_ranges(holds: Callable[[Any, Any], Any], fields: tuple[str, ...]) -> KeyRanges:
    """What the predicate ``holds`` tells of the differences of its fields."""
    r, s = (SimpleNamespace(**{field: _Sum({(side, field): 1}) for field in fields}) for side in "rs")
    try:
        told = holds(r, s)
    # Whatever else an expression does, symbols cannot tell about it.
    except Exception:
        return KeyRanges()
    if not isinstance(told, _Told) or not (told.key and told.key2):
        return KeyRanges()
    return KeyRanges(_known(told.key), _known(told.key2), told.exact)


def merged(ranges: Iterable[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """The same integers in as few ranges as possible: no pair lies in two, and no comparator is wasted."""
    whole = []
    for lo, hi in sorted(ranges):
        if whole and lo <= whole[-1][1] + 1:
            whole[-1] = (whole[-1][0], max(hi, whole[-1][1]))
        else:
            whole.append((lo, hi))
    return tuple(whole)


def _known(spans: _Spans) -> Ranges | None:
    if spans == _ALL:
        return None
    return tuple((None if lo == -inf else lo, None if hi == inf else hi) for lo, hi in spans)


def _common(some: _Spans, others: _Spans) -> _Spans:
    pairs = ((max(a[0], b[0]), min(a[1], b[1])) for a in some for b in others)
    return tuple((lo, hi) for lo, hi in pairs if lo <= hi)


@dataclass(frozen=True)
class _Told:
    """What a condition tells: as :class:`KeyRanges`, with infinite ends."""

    key: _Spans = _ALL
    key2: _Spans = _ALL
    exact: bool = False

    def __and__(self, other):
        if not isinstance(other, _Told):
            return NotImplemented
        return _Told(_common(self.key, other.key), _common(self.key2, other.key2), self.exact and other.exact)

    def __or__(self, other):
        if not isinstance(other, _Told):
            return NotImplemented
        # Two rectangles make a third one if they agree in one of their sides.
        aligned = self.key == other.key or self.key2 == other.key2
        return _Told(
            merged(self.key + other.key), merged(self.key2 + other.key2), self.exact and other.exact and aligned
        )

    def __bool__(self):
        raise TypeError("whether this holds depends on the tuples")


class _Sum:
    """Fields, each so many times, and a constant."""

    def __init__(self, terms: dict, constant: int = 0):
        self._terms = {field: times for field, times in terms.items() if times}
        self._constant = constant

    def __add__(self, other):
        return self._with(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return self._with(other, -1)

    def __rsub__(self, other):
        return _Sum({}, 0)._with(other, 1)._with(self, -1)

    def __eq__(self, other):
        return self._compared(other, lambda value: ((value, value),))

    def __ne__(self, other):
        return self._compared(other, lambda value: ((-inf, value - 1), (value + 1, inf)))

    def __lt__(self, other):
        return self._compared(other, lambda value: ((-inf, value - 1),))

    def __le__(self, other):
        return self._compared(other, lambda value: ((-inf, value),))

    def __gt__(self, other):
        return self._compared(other, lambda value: ((value + 1, inf),))

    def __ge__(self, other):
        return self._compared(other, lambda value: ((value, inf),))

    __hash__ = None

    def _with(self, other, sign: int) -> "_Sum":
        if isinstance(other, int):
            return _Sum(self._terms, self._constant + sign * other)
        terms = dict(self._terms)
        for field, times in other._terms.items():
            terms[field] = terms.get(field, 0) + sign * times
        return _Sum(terms, self._constant + sign * other._constant)

    def _compared(self, other, spans: Callable[[int], _Spans]) -> _Told:
        """What a comparison tells; ``spans`` are the values for which it holds beside a given one."""
        difference = self - other
        value = -difference._constant
        for field in ("key", "key2"):
            if difference._terms == {("r", field): 1, ("s", field): -1}:
                return _Told(**{field: spans(value)}, exact=True)
            if difference._terms == {("r", field): -1, ("s", field): 1}:
                return _Told(**{field: tuple((-hi, -lo) for lo, hi in reversed(spans(value)))}, exact=True)
        return _Told()
