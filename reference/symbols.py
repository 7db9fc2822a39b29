"""A predicate's expression, taken down by calling its function once, with symbols for tuples.

Symbols know the operators that mean the same on Amaranth values, Python integers, NumPy arrays and Spark columns:
``== != < <= > >=`` and ``+ -`` between numbers, ``& |`` between conditions. They refuse all else, and so does whoever
receives a value that is no condition. What comes out is an expression that all can follow, or a reason why not.
"""

from collections.abc import Callable
from typing import Any, ClassVar, NoReturn

from .expressions import MOST_TERMS, Comparison, Expression, constant, joined

_ADVICE = "return one condition on r.key and s.key, of == != < <= > >= + - and, between conditions in parentheses, & |"


class ExpressionError(Exception):
    """Something that not all can follow: what the predicate does, and what to do instead."""

    def __init__(self, does: str, advice: str = _ADVICE):
        super().__init__(f"{does}: {advice}")


def take_down(holds: Callable[[Any, Any], Any], fields: tuple[str, ...]) -> Expression:
    """The expression of a predicate that looks at these fields; ExpressionError if it is none, or whatever the function
    raises by itself."""
    value = holds(_Tuple("r", fields), _Tuple("s", fields))
    if isinstance(value, bool):
        return constant(value)
    if isinstance(value, Condition):
        return value.expression
    raise ExpressionError(f"gives {_named(value)}, not a condition")


def _named(value) -> str:
    if isinstance(value, _Symbol):
        return value.name
    if isinstance(value, bool):
        return Condition.name
    if isinstance(value, int):
        return Number.name
    return "None" if value is None else f"a value of type {type(value).__name__}"


class _Symbol:
    """What can be asked for nothing, and knows no operator."""

    name: str
    __hash__: ClassVar[None] = None
    __array_ufunc__ = None  # NumPy's numbers leave operators to us

    def __bool__(self) -> NoReturn:
        raise ExpressionError(f"asks whether {self.name} is true, as if, and, or, not, in and a < b < c do")

    def __getitem__(self, _) -> NoReturn:
        raise ExpressionError(f"takes {self.name} apart")


def _refusing(sign: str) -> Callable:
    def refuse(self: _Symbol, *others) -> NoReturn:
        first, *second = map(_named, (self, *others))
        if second == [first]:
            raise ExpressionError(f"uses {sign} between {first.removeprefix('a ')}s")
        raise ExpressionError(f"uses {sign} {'between' if second else 'on'} {' and '.join((first, *second))}")

    return refuse


_BINARY = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "divmod": "divmod"}
_BINARY |= {"pow": "**", "matmul": "@", "lshift": "<<", "rshift": ">>", "and": "&", "or": "|", "xor": "^"}
_REFLECTED = {f"r{name}": sign for name, sign in _BINARY.items()}
_COMPARING = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNARY = {"neg": "-", "pos": "+", "invert": "~", "abs": "abs", "round": "round", "trunc": "trunc"}
for _name, _sign in (_BINARY | _REFLECTED | _COMPARING | _UNARY).items():
    setattr(_Symbol, f"__{_name}__", _refusing(_sign))


class _Tuple(_Symbol):
    """A tuple, of which the fields can be read that the predicate names."""

    def __init__(self, side: str, fields: tuple[str, ...]):
        self.name = side
        for field in fields:
            setattr(self, field, Number({(side, field): 1}))

    def __getattr__(self, field: str) -> NoReturn:
        if field.startswith("__"):
            raise AttributeError(field)
        if field == "key2":
            raise ExpressionError(f"reads {self.name}.key2", "give the function the attribute fields = ('key', 'key2')")
        raise ExpressionError(f"reads {self.name}.{field}")


class Number(_Symbol):
    """Fields, each so many times, and a constant."""

    name = "a number"

    def __init__(self, terms: dict[tuple[str, str], int], constant: int = 0):
        self._terms = {field: times for field, times in terms.items() if times}
        self._constant = constant
        if sum(map(abs, self._terms.values())) > MOST_TERMS:
            raise ExpressionError("adds up keys more than a million times")

    def __add__(self, other):
        return self._with(other, 1)

    __radd__ = __add__

    def __sub__(self, other):
        return self._with(other, -1)

    def __rsub__(self, other):
        return -self + other

    def __neg__(self):
        return Number({})._with(self, -1)

    def _with(self, other, sign: int) -> "Number":
        if isinstance(other, int) and not isinstance(other, bool):
            return Number(self._terms, self._constant + sign * int(other))
        if not isinstance(other, Number):
            raise ExpressionError(f"computes with {_named(other)} where a whole number belongs")
        terms = dict(self._terms)
        for field, times in other._terms.items():
            terms[field] = terms.get(field, 0) + sign * times
        return Number(terms, self._constant + sign * other._constant)

    def __eq__(self, other):
        return self._compared("==", other)

    def __ne__(self, other):
        return self._compared("!=", other)

    def __lt__(self, other):
        return self._compared("<", other)

    def __le__(self, other):
        return self._compared("<=", other)

    def __gt__(self, other):
        return self._compared(">", other)

    def __ge__(self, other):
        return self._compared(">=", other)

    __hash__: ClassVar[None] = None

    def _compared(self, relation: str, other) -> "Condition":
        difference = self - other
        return Condition(Comparison(tuple(sorted(difference._terms.items())), relation, -difference._constant))


class Condition(_Symbol):
    """What holds or does not, depending on the tuples."""

    name = "a condition"

    def __init__(self, expression: Expression):
        self.expression = expression

    def __and__(self, other):
        return self._joined("&", other)

    def __or__(self, other):
        return self._joined("|", other)

    __rand__, __ror__ = __and__, __or__

    def _joined(self, word: str, other) -> "Condition":
        if isinstance(other, bool):
            other = Condition(constant(other))
        if not isinstance(other, Condition):
            raise ExpressionError(f"uses {word} between a condition and {_named(other)}")
        return Condition(joined(word, self.expression, other.expression))
