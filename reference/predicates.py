"""Join predicates, each written once.

A predicate is one function of two tuples ``r`` and ``s`` that returns a condition on their fields: ``key``, and
``key2`` if it says so. It compares numbers (``== != < <= > >=``), which are fields and constants, added and subtracted
(``+ -``), and joins conditions, each in parentheses (``& |``). These operators mean the same for gates, the plain
reference, the vectorised check and Spark SQL. A condition may look at one side only, or be plain ``True`` or ``False``.

Nothing else is a predicate, and that is said before anything is built: a number, another field, another operator such
as ``*``, ``%``, ``~`` or ``abs``, a bitwise ``&`` of keys, a constant that is no whole number, or whatever asks for the
truth of a condition, as ``and``, ``or``, ``not`` and ``a < b < c`` do.

Gates and the plain reference call the function. The others, whose numbers have 64 bits, go by the expression that is
taken down from it (see `expressions`), and are as exact.

Between more than two streams a predicate holds if it holds between each stream and the next.
"""

import re
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from typing import Any

import numpy as np

from .expressions import Expression, on_arrays
from .key_ranges import KeyRanges, Ranges, key_ranges, merged
from .own_functions import own_function
from .symbols import ExpressionError, take_down
from .wording import one_sentence, shown
from .written_conditions import read_condition
from .written_numbers import whole_number


@dataclass(frozen=True)
class Predicate:
    """A condition on two tuples. Equal, hashed and pickled by ``spec``, the text that `parse_predicate` reads.

    A function that is no predicate is a ValueError that says in one sentence why not.

    Parameters
    ----------
    spec : the name, as on the command line and in JSON
    holds : the condition, on tuples of integers or of Amaranth values with the attributes that ``fields`` names
    fields : ``("key",)`` or ``("key", "key2")``
    """

    spec: str
    holds: Callable[[Any, Any], Any] = field(compare=False, repr=False)
    fields: tuple[str, ...] = field(default=("key",), compare=False)

    def __post_init__(self):
        _ = self.expression  # says what is wrong with it

    @cached_property
    def expression(self) -> Expression:
        """What it says; as text, the same for all functions that say the same in the same way."""
        with users_code(f"predicate {shown(self.spec)} fails", "return one condition on r.key and s.key"):
            try:
                return take_down(self.holds, self.fields)
            except ExpressionError as error:
                reason = str(error)
        raise ValueError(f"predicate {shown(self.spec)} {reason}")

    def holds_for(self, r, s) -> np.ndarray:
        """Where it holds between tuples whose fields are int64 arrays, of the shape that both make together."""
        return on_arrays(self.expression, r, s)

    @cached_property
    def ranges(self) -> KeyRanges:
        """What it tells of the differences of keys."""
        return key_ranges(self.expression)

    @property
    def key_ranges(self) -> Ranges | None:
        """Ranges one of which ``r.key - s.key`` lies in whenever it holds; None if nothing is known."""
        return self.ranges.key

    @property
    def ranges_decide(self) -> bool:
        """Whether it holds exactly where ``r.key - s.key`` lies in its ranges: nothing else has to be looked at."""
        return self.ranges.exact and self.ranges.key is not None and self.ranges.key2 is None

    @property
    def is_equi(self) -> bool:
        """Whether it holds exactly for equal keys, so that an index on the key finds all matches."""
        return self.ranges_decide and self.key_ranges == ((0, 0),) and self.fields == ("key",)

    def __reduce__(self):
        return parse_predicate, (self.spec,)


def parse_predicate(spec: str) -> Predicate:
    """The predicate named ``spec``: ``equi``, ``ne``, ``lt``, ``le``, ``gt``, ``ge``, ``band:EPS``,
    ``bands:LO..HI,LO..HI`` (of r.key - s.key), ``band2:EPS1,EPS2`` (of key and key2); ``module:function`` or
    ``path/file.py:function``, a function as described above; or a condition itself, ``r.key - s.key <= 3``.

    Anything else is a ValueError that says in one sentence what to write instead.
    """
    name, colon, argument = spec.partition(":")
    if name in _COMPARISONS:
        if colon:
            raise ValueError(f"predicate {shown(spec)} takes no argument: write {name!r}")
        return Predicate(name, _COMPARISONS[name])
    if name in _BANDS:
        return _BANDS[name](argument)
    if colon:
        return _own(*spec.rsplit(":", 1))
    if _CONDITION.search(spec):
        holds, fields = read_condition(spec)
        return Predicate(spec, holds, fields)
    known = ", ".join([*_COMPARISONS, "band:EPS", "bands:LO..HI,LO..HI", "band2:EPS1,EPS2"])
    raise ValueError(f"no predicate is called {shown(spec)}: write one of {known}, or module:function for your own")


def predicate_of(function: Callable[[Any, Any], Any]) -> Predicate:
    """The predicate that a function of two tuples is, by what it says: its ``spec`` is the condition, written down.

    The function may look at ``key`` and ``key2``, and needs no attribute that says so.
    """
    name = getattr(function, "__name__", "function")
    return parse_predicate(str(Predicate(f"function {name}", function, ("key", "key2")).expression))


_CONDITION = re.compile(r"\b[rs]\s*\.|^\s*(True|False)\s*$")  # looks at a tuple, or at nothing

_COMPARISONS: dict[str, Callable] = {
    "equi": lambda r, s: r.key == s.key,
    "ne": lambda r, s: r.key != s.key,
    "lt": lambda r, s: r.key < s.key,
    "le": lambda r, s: r.key <= s.key,
    "gt": lambda r, s: s.key < r.key,
    "ge": lambda r, s: s.key <= r.key,
}


def _numbers(argument: str, between: str) -> list[int] | None:
    """The whole numbers of a text, if it has nothing else."""
    try:
        return [whole_number(word) for word in argument.split(between)]
    except ValueError:
        return None


def _band(argument: str) -> Predicate:
    match _numbers(argument, ","):
        case [int(eps)] if eps >= 0:
            pass
        case _:
            raise ValueError(f"predicate 'band:{argument}' needs one whole number that is not negative: write band:3")
    return Predicate(f"band:{eps}", lambda r, s: (r.key - s.key <= eps) & (s.key - r.key <= eps))


def _band2(argument: str) -> Predicate:
    match _numbers(argument, ","):
        case [int(eps1), int(eps2)] if min(eps1, eps2) >= 0:
            pass
        case _:
            raise ValueError(f"predicate 'band2:{argument}' needs two whole numbers, not negative: write band2:3,5")

    def holds(r, s):
        near = (r.key - s.key <= eps1) & (s.key - r.key <= eps1)
        near2 = (r.key2 - s.key2 <= eps2) & (s.key2 - r.key2 <= eps2)
        return near & near2

    return Predicate(f"band2:{eps1},{eps2}", holds, ("key", "key2"))


def _bands(argument: str) -> Predicate:
    pairs = [_numbers(part, "..") or [] for part in argument.split(",")]
    ranges = [(pair[0], pair[1]) for pair in pairs if len(pair) == 2]
    if len(ranges) < len(pairs):
        raise ValueError(f"predicate 'bands:{argument}' needs ranges of r.key - s.key: write bands:-9..-7,2..4")
    for lo, hi in ranges:
        if lo > hi:
            raise ValueError(f"predicate 'bands:{argument}' has a range that is empty: write {hi}..{lo}")
    whole = merged(ranges)
    return Predicate(
        "bands:" + ",".join(f"{lo}..{hi}" for lo, hi in whole),
        lambda r, s: reduce(or_, ((s.key - r.key <= -lo) & (r.key - s.key <= hi) for lo, hi in whole)),
    )


_BANDS = {"band": _band, "bands": _bands, "band2": _band2}


def _own(module: str, function: str) -> Predicate:
    """A user's function; its attribute ``fields`` says which fields it reads, by default the key alone."""
    spec = f"{module}:{function}"
    with users_code(f"predicate {shown(spec)} cannot be imported", "check the names of both"):
        holds = own_function(module, function)
    if not callable(holds):
        raise ValueError(f"predicate {shown(spec)} is not a function: name one that takes r and s")
    fields = getattr(holds, "fields", ("key",))
    if fields not in (("key",), ("key", "key2"), ["key"], ["key", "key2"]):
        raise ValueError(f"predicate {shown(spec)} has fields {shown(fields)}: use ('key',) or ('key', 'key2')")
    return Predicate(spec, holds, tuple(fields))


@contextmanager
def users_code(failure: str, advice: str):
    """Whatever a user's code raises in this block, one sentence: a ValueError. Not even an exit ends us, but Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        said = one_sentence(f"{type(error).__name__}: {error}".rstrip(": "), 120)
        raise ValueError(f"{failure} ({said}): {advice}") from error
