"""How the results of a run differ from those it should have given."""

from dataclasses import dataclass
from math import prod

import numpy as np


@dataclass(frozen=True, eq=False)
class Difference:
    """Rows of arrival numbers in which two results differ, each kind in ascending order.

    Parameters
    ----------
    missing : expected, but not there
    extra : there, but not expected; each once, however often it is there
    repeated : every copy after the first of a row that is there more than once, expected or not
    missing_by_overflow, lost : how many more are not there because a time-based window had no room for its span, and
        the first few of these, by their latest tuple
    """

    missing: np.ndarray
    extra: np.ndarray
    repeated: np.ndarray
    lost: np.ndarray
    missing_by_overflow: int = 0

    @property
    def exact(self) -> bool:
        return not any(self.counts.values())

    @property
    def design_is_right(self) -> bool:
        """Whether all is there that the rooms allow, once, and nothing else."""
        return not any(self.faults.values())

    @property
    def faults(self) -> dict[str, int]:
        """How many rows are ``missing``, ``extra`` and ``repeated``."""
        return {kind: len(getattr(self, kind)) for kind in ("missing", "extra", "repeated")}

    @property
    def counts(self) -> dict[str, int]:
        """The same, and how many are ``missing_by_overflow``."""
        return {**self.faults, "missing_by_overflow": self.missing_by_overflow}

    def describe(self, limit: int = 3) -> str:
        """One line for people: the counts, and the first ``limit`` rows of each kind."""
        if self.exact:
            return "exact"
        kinds = [(kind, count, getattr(self, kind)) for kind, count in self.faults.items()]
        if self.missing_by_overflow:
            kinds.append(("missing by overflow", self.missing_by_overflow, self.lost))
        words = []
        for kind, count, some in kinds:
            rows = [str(tuple(row)) for row in some[:limit].tolist()]
            more = ["…"] if count > len(rows) else []
            words.append(f"{count} {kind}" + (f" ({', '.join(rows + more)})" if rows else ""))
        return ", ".join(words)


def compare(expected, got) -> Difference:
    """Compare two results, given as rows of arrival numbers in any order; ``expected`` has each row once."""
    expected, got = np.asarray(expected, np.int64), np.asarray(got, np.int64)
    # An empty list does not tell how many streams its rows would have: the other result does.
    streams = max(results.shape[-1] for results in (expected, got))
    expected, got = expected.reshape(len(expected), streams), got.reshape(len(got), streams)
    wanted, found, decode = _encode(expected, got)
    wanted, found = np.sort(wanted), np.sort(found)
    again = np.zeros(len(found), bool)
    again[1:] = found[1:] == found[:-1]
    none = np.empty((0, streams), np.int64)
    if np.array_equal(wanted, found) and not again.any():  # as a rule: there is nothing to look for
        return Difference(none, none, none, none)
    return Difference(
        missing=decode(_without(wanted, found)),
        extra=decode(_without(found[~again], wanted)),
        repeated=decode(found[again]),
        lost=none,
    )


def _without(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Those of some that are not among the others; both ascend."""
    if not len(others):
        return some
    return some[others[np.searchsorted(others, some).clip(max=len(others) - 1)] != some]


def _encode(expected: np.ndarray, got: np.ndarray):
    """One integer for each row, in the order of the rows, and the function that turns integers back into rows.

    A row is packed into its integer where 64 bits will do, else it is its rank among all rows.
    """
    columns = [np.concatenate(pair) for pair in zip(expected.T, got.T, strict=True)]
    least = [int(column.min(initial=0)) for column in columns]
    sizes = [int(column.max(initial=0)) - low + 1 for column, low in zip(columns, least, strict=True)]
    if prod(sizes) > np.iinfo(np.int64).max:
        ranked, codes = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        return *np.split(codes.reshape(-1), [len(expected)]), ranked.__getitem__

    codes = np.zeros(len(expected) + len(got), np.int64)
    for column, low, size in zip(columns, least, sizes, strict=True):
        codes *= size
        codes += column - low

    def decode(codes):
        return np.stack(np.unravel_index(codes, sizes), axis=1) + least

    return *np.split(codes, [len(expected)]), decode
