"""How often a join can take tuples."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """Cycles from one command to the next, by what enters: an R tuple, an S tuple, or both."""

    r: int
    s: int
    both: int
