"""What a predicate says, as data: comparisons of sums of fields with numbers, joined by ``&`` and ``|``.

Keys are whole numbers from 0 up. Whoever evaluates an expression on many tuples at once (NumPy here, Spark SQL in the
driver) has them in signed 64-bit integers; however large the numbers in it are, and however often it adds keys up, the
value is that of whole numbers without end.
"""

import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, reduce
from typing import Any

import numpy as np

RELATIONS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_WORDS = {"&": operator.and_, "|": operator.or_}

#: How often keys may be added up: so far, sums fit two limbs of 32 and 64 bits, and Spark's decimals.
MOST_TERMS = 1 << 20

_GREATEST = np.iinfo(np.int64).max
_LIMB = 32
_LOWER = (1 << _LIMB) - 1


@dataclass(frozen=True)
class Comparison:
    """A sum of fields beside a number.

    Parameters
    ----------
    terms : ``((side, field), times)`` for each field that counts, such as ``(("r", "key"), 1)``; none if it is true,
        or false, for all tuples
    relation : one of ``RELATIONS``
    number : what the sum is compared with
    """

    terms: tuple[tuple[tuple[str, str], int], ...]
    relation: str
    number: int

    @property
    def decided(self) -> bool | None:
        """Its truth if no keys of 63 bits can change it; otherwise None, and the number is one that the sum reaches."""
        least, most = (_GREATEST * sum(times for _, times in self.terms if times * sign > 0) for sign in (-1, 1))
        if least < most and least <= self.number <= most:
            return None
        return RELATIONS[self.relation](least, self.number)

    @property
    def difference(self) -> tuple[tuple[str, str] | None, tuple[str, str] | None] | None:
        """The fields (a, b) if the sum is a - b, either of which may be missing: it never leaves 64 bits."""
        added, taken = ([field for field, times in self.terms if times == sign] for sign in (1, -1))
        if len(added) + len(taken) < len(self.terms) or len(added) > 1 or len(taken) > 1:
            return None
        return added[0] if added else None, taken[0] if taken else None

    def __str__(self) -> str:
        if not self.terms:
            return str(self.decided)
        signed = [("-" if times < 0 else "+", abs(times), ".".join(field)) for field, times in self.terms]
        words = " ".join(f"{sign} {name if times == 1 else f'{times} * {name}'}" for sign, times, name in signed)
        return f"{words.removeprefix('+ ')} {self.relation} {self.number}"


@dataclass(frozen=True)
class Junction:
    """Conditions that hold all (``&``), or one of which holds (``|``)."""

    word: str
    parts: tuple["Expression", ...]

    def __str__(self) -> str:
        return f" {self.word} ".join(f"({part})" for part in self.parts)


Expression = Comparison | Junction


def constant(truth: bool) -> Comparison:
    """What always holds, or never."""
    return Comparison((), "==" if truth else "!=", 0)


def joined(word: str, first: Expression, second: Expression) -> Expression:
    """Both (``&``) or either of them (``|``), as flat as can be and without what is true or false anyway."""
    parts = []
    for part in (first, second):
        if isinstance(part, Comparison) and not part.terms:
            if part.decided != (word == "&"):
                return part
        elif isinstance(part, Junction) and part.word == word:
            parts += part.parts
        else:
            parts.append(part)
    if not parts:
        return first
    return parts[0] if len(parts) == 1 else Junction(word, tuple(parts))


def folded(expression: Expression, leaf: Callable[[Comparison], Any]) -> Any:
    """The value of an expression for those who know the value ``leaf`` of a comparison and can join two by & and |."""
    if isinstance(expression, Comparison):
        return leaf(expression)
    return reduce(_WORDS[expression.word], (folded(part, leaf) for part in expression.parts))


def evaluated(expression: Expression, compare: Callable[[Comparison], Any]) -> Any:
    """The same, for keys of at most 63 bits: where these decide, a truth value takes the place of the comparison."""

    def leaf(comparison: Comparison):
        decided = comparison.decided
        return compare(comparison) if decided is None else decided

    return folded(expression, leaf)


def on_arrays(expression: Expression, r, s) -> np.ndarray:
    """Where it holds between tuples whose fields are int64 arrays: of the shape that the keys of both make together,
    whichever of them it looks at."""
    sides = {"r": r, "s": s}

    def column(field: tuple[str, str]) -> np.ndarray:
        return getattr(sides[field[0]], field[1])

    @cache
    def greatest(field: tuple[str, str]) -> int:
        return int(column(field).max(initial=0))

    def compare(comparison: Comparison) -> np.ndarray:
        relation, number = RELATIONS[comparison.relation], comparison.number
        if comparison.difference is not None:
            added, taken = (0 if field is None else column(field) for field in comparison.difference)
            return relation(added - taken, number) if number else relation(added, taken)
        reach = sum(abs(times) * greatest(field) for field, times in comparison.terms)
        if max(reach, abs(number)) <= _GREATEST:
            terms = (column(field) if times == 1 else times * column(field) for field, times in comparison.terms)
            return relation(reduce(operator.add, terms), number)
        return relation(_sign(comparison, column), 0)

    return np.broadcast_to(evaluated(expression, compare), np.broadcast_shapes(r.key.shape, s.key.shape))


def _sign(comparison: Comparison, column: Callable[[tuple[str, str]], np.ndarray]) -> np.ndarray:
    """Numbers with the sign of what the sum exceeds its number by: in two limbs, of which the lower is never negative
    in the end, so that the higher decides unless it is 0."""
    high, low = divmod(-comparison.number, 1 << _LIMB)
    for field, times in comparison.terms:
        values = column(field)
        high = high + times * (values >> _LIMB)
        low = low + times * (values & _LOWER)
    high = high + (low >> _LIMB)
    return np.where(high == 0, low & _LOWER, high)
