"""What a predicate says, as text: its expression is evaluated on symbols that write down what is done with them.

So a function of the user's own is known by what it says, and not by its name, its place or its source: it can be told
whether it is still the same one, and to people what it was.
"""

from operator import index
from types import SimpleNamespace

from .predicates import Predicate

# Those that mean the same to gates, integers, arrays and SQL.
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_OTHERS = {"add": "+", "sub": "-", "and": "&", "or": "|"}


def predicate_text(predicate: Predicate) -> str | None:
    """What it says of ``r`` and ``s``, such as ``r.key == s.key``; None if it does more than compute with their fields,
    which symbols cannot follow."""
    r, s = (SimpleNamespace(**{name: _Symbol(f"{side}.{name}") for name in predicate.fields}) for side in "rs")
    try:
        return _text(predicate.holds(r, s))
    except Exception:
        return None


class _Symbol:
    """A value that is known by the text of it."""

    __array_ufunc__ = None  # a number of NumPy's leaves the operation to us
    __hash__ = None

    def __init__(self, text: str):
        self.text = text

    def __bool__(self):
        raise TypeError("whether this holds depends on the tuples")


def _text(value: object) -> str:
    return value.text if isinstance(value, _Symbol) else str(index(value))


def _operand(value: object) -> str:
    text = _text(value)
    return f"({text})" if " " in text else text


def _give_operator(name: str, sign: str) -> None:
    def operate(left, right):
        return _Symbol(f"{_operand(left)} {sign} {_operand(right)}")

    setattr(_Symbol, f"__{name}__", operate)
    setattr(_Symbol, f"__r{name}__", lambda right, left: operate(left, right))


for _name, _sign in (_COMPARISONS | _OTHERS).items():
    _give_operator(_name, _sign)
