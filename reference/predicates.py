"""Join predicates, each written once.

A predicate is one function of two tuples ``r`` and ``s`` that uses only ``== != < <= + - & |``. These mean the same
on Amaranth values, Python integers, int64 arrays and Spark columns, so the one expression becomes gates, the plain
reference, the vectorised check and SQL. Differences are exact in all of them: Amaranth widens ``unsigned - unsigned``
to a signed value, and the others hold keys of at most 63 bits in 64 signed ones.

Between more than two streams a predicate holds if it holds between each stream and the next.
"""

import importlib
import re
import sys
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import or_
from pathlib import Path
from typing import Any

from .key_ranges import KeyRanges, Ranges, key_ranges, merged


@dataclass(frozen=True)
class Predicate:
    """A condition on two tuples. Equal, hashed and pickled by ``spec``, the text that `parse_predicate` reads.

    Parameters
    ----------
    spec : the name, as on the command line and in JSON
    holds : the expression, over objects with the attributes that ``fields`` names
    fields : ``("key",)`` or ``("key", "key2")``
    """

    spec: str
    holds: Callable[[Any, Any], Any] = field(compare=False, repr=False)
    fields: tuple[str, ...] = field(default=("key",), compare=False)

    @cached_property
    def ranges(self) -> KeyRanges:
        """What it tells of the differences of keys."""
        return key_ranges(self.holds, self.fields)

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
    ``bands:LO..HI,LO..HI`` (of r.key - s.key), ``band2:EPS1,EPS2`` (of key and key2) or ``module:function``.

    Anything else is a ValueError that says in one sentence what to write instead.
    """
    name, colon, argument = spec.partition(":")
    if name in _COMPARISONS:
        if colon:
            raise ValueError(f"predicate {spec!r} takes no argument: write {name!r}")
        return Predicate(name, _COMPARISONS[name])
    if name in _BANDS:
        return _BANDS[name](argument)
    if colon:
        return _own(name, argument)
    known = ", ".join([*_COMPARISONS, "band:EPS", "bands:LO..HI,LO..HI", "band2:EPS1,EPS2"])
    raise ValueError(f"no predicate is called {spec!r}: write one of {known}, or module:function for your own")


_COMPARISONS: dict[str, Callable] = {
    "equi": lambda r, s: r.key == s.key,
    "ne": lambda r, s: r.key != s.key,
    "lt": lambda r, s: r.key < s.key,
    "le": lambda r, s: r.key <= s.key,
    "gt": lambda r, s: s.key < r.key,
    "ge": lambda r, s: s.key <= r.key,
}


def _band(argument: str) -> Predicate:
    if not re.fullmatch(r"[0-9]+", argument):
        raise ValueError(f"predicate 'band:{argument}' needs one whole number that is not negative: write band:3")
    eps = int(argument)
    return Predicate(f"band:{eps}", lambda r, s: (r.key - s.key <= eps) & (s.key - r.key <= eps))


def _band2(argument: str) -> Predicate:
    if not (match := re.fullmatch(r"([0-9]+),([0-9]+)", argument)):
        raise ValueError(f"predicate 'band2:{argument}' needs two whole numbers, not negative: write band2:3,5")
    eps1, eps2 = map(int, match.groups())

    def holds(r, s):
        near = (r.key - s.key <= eps1) & (s.key - r.key <= eps1)
        near2 = (r.key2 - s.key2 <= eps2) & (s.key2 - r.key2 <= eps2)
        return near & near2

    return Predicate(f"band2:{eps1},{eps2}", holds, ("key", "key2"))


def _bands(argument: str) -> Predicate:
    parts = [re.fullmatch(r"(-?[0-9]+)\.\.(-?[0-9]+)", part) for part in argument.split(",")]
    if not all(parts):
        raise ValueError(f"predicate 'bands:{argument}' needs ranges of r.key - s.key: write bands:-9..-7,2..4")
    ranges = [(int(part[1]), int(part[2])) for part in parts]
    for lo, hi in ranges:
        if lo > hi:
            raise ValueError(f"predicate 'bands:{argument}' has a range that is empty: write {hi}..{lo}")
    ranges = merged(ranges)
    return Predicate(
        "bands:" + ",".join(f"{lo}..{hi}" for lo, hi in ranges),
        lambda r, s: reduce(or_, ((s.key - r.key <= -lo) & (r.key - s.key <= hi) for lo, hi in ranges)),
    )


_BANDS = {"band": _band, "bands": _bands, "band2": _band2}


def _own(module: str, function: str) -> Predicate:
    """A user's function; its attribute ``fields`` says which fields it reads, by default the key alone."""
    spec = f"{module}:{function}"
    try:
        with _current_directory_importable():
            holds = getattr(importlib.import_module(module), function)
    # Whatever a user's module raises while it is imported, the sentence is the same.
    except Exception as error:
        raise ValueError(f"predicate {spec!r} cannot be imported ({error}): check the names of both") from error
    if not callable(holds):
        raise ValueError(f"predicate {spec!r} is not a function: name one that takes r and s")
    fields = tuple(getattr(holds, "fields", ("key",)))
    if fields not in (("key",), ("key", "key2")):
        raise ValueError(f"predicate {spec!r} has fields {fields}: use ('key',) or ('key', 'key2')")
    return Predicate(spec, holds, fields)


@contextmanager
def _current_directory_importable():
    """A console script, unlike ``python -m``, does not look for modules where it was started."""
    here = str(Path.cwd())
    sys.path.insert(0, here)
    importlib.invalidate_caches()
    try:
        yield
    finally:
        # A module may have changed the path too; remove one entry at most.
        if here in sys.path:
            sys.path.remove(here)
