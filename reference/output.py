"""What the output of a join means, how it is read, and what it has to be: one path for every kind of output."""

import abc
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from .arrivals import Arrivals, Windows
from .compare import Difference, compare
from .join import count_overflows
from .overflow import lost_results, with_overflows
from .predicates import Predicate
from .punctuations import Punctuations
from .records import RecordMirror
from .vectorised import window_join_array


@dataclass(frozen=True, eq=False)
class Transfers:
    """What crossed the ports of a join in one run.

    Attributes
    ----------
    arrivals
        All that were offered.
    kept
        For each of them whether it was taken, and not dropped.
    columns
        The fields of what left, one entry a transfer; payloads as the arrival numbers that they stand for.
    sides
        What the fields of a result are named after, for each stream.
    finished
        Whether the run came to its end.
    """

    arrivals: Arrivals
    kept: np.ndarray
    columns: Mapping[str, np.ndarray]
    sides: tuple[str, ...]
    finished: bool

    @property
    def accepted(self) -> Arrivals:
        """The arrivals that were kept."""
        return self.arrivals if self.kept.all() else self.arrivals[self.kept]


@dataclass(frozen=True, eq=False)
class Reading:
    """The results that transfers mean.

    Attributes
    ----------
    numbers
        A row a result and a column a stream: the arrival numbers of the tuples that took part. A payload that no tuple
        had, which only a wrong design gives, has a number beyond all arrivals.
    transfer
        For each result the transfer that it came in; ``None`` where each transfer is a result.
    punctuations
        What was said between results, where anything is.
    expected
        What ``numbers`` should be, where the contract's join does not decide it.
    """

    transfers: Transfers
    numbers: np.ndarray
    transfer: np.ndarray | None = None
    punctuations: Punctuations | None = None
    expected: np.ndarray | None = None

    def of_results(self, column: np.ndarray) -> np.ndarray:
        """What a column of the transfers says of the results."""
        return column if self.transfer is None else column[self.transfer]


class Output(abc.ABC):
    """What leaves a join."""

    #: Whether results come in the order of their later tuple.
    ordered = False
    #: Where results are not combinations of the contract's join one by one: what they are, and what to take instead.
    instead: str | None = None

    @abc.abstractmethod
    def read(self, transfers: Transfers) -> Reading:
        """The results; :exc:`~streamjoin.reference.errors.DesignError` where transfers make no sense."""

    def difference(self, reading: Reading, predicate: Predicate, windows: Windows, warm_up: int = 0) -> Difference:
        """How the results differ from what they should be; DesignError where a promise beyond that was broken.

        A join has to give all that its rooms allow. What spans ask for beyond that is missing by overflow; of the
        first ``warm_up`` arrivals, which are of another segment, such results are not counted.
        """
        if reading.expected is not None:
            return compare(reading.expected, reading.numbers)
        transfers = reading.transfers
        accepted, kept = transfers.accepted, np.flatnonzero(transfers.kept)
        all_kept = len(kept) == len(transfers.kept)  # then they are numbered as they are
        expected = window_join_array(accepted, predicate, windows)
        difference = compare(expected if all_kept else kept[expected], reading.numbers)
        if count_overflows(accepted, windows):
            lost = (kept[rows] for rows in lost_results(accepted, predicate, windows))
            difference = with_overflows(difference, lost, since=warm_up)
        if reading.punctuations is not None and difference.design_is_right:
            rank = np.cumsum(transfers.kept) - 1
            later = rank[reading.numbers].max(axis=1, initial=-1)
            reading.punctuations.check(later, len(kept), ordered=self.ordered)
        return difference


@dataclass(frozen=True)
class Combinations(Output):
    """Each transfer is a result, in no particular order."""

    def read(self, transfers: Transfers) -> Reading:
        return Reading(transfers, _numbers(transfers))


@dataclass(frozen=True)
class PunctuatedCombinations(Output):
    """Results and punctuations between them; ``ordered``: results in the order of their later tuple."""

    ordered: bool = False

    def read(self, transfers: Transfers) -> Reading:
        order, mark = transfers.columns["order"].astype(np.int64), transfers.columns["mark"].astype(bool)
        results = np.flatnonzero(~mark)
        return Reading(transfers, _numbers(transfers)[results], results, Punctuations.among(order, mark))


@dataclass(frozen=True)
class Records(Output):
    """Records that stand for many pairs each, in the order in which batches are processed."""

    mirror: RecordMirror
    instead = "records, which stand for the pairs that batches met: take output=pairs"

    def read(self, transfers: Transfers) -> Reading:
        expansion = self.mirror.expand(transfers.columns, transfers.arrivals, transfers.kept, transfers.finished)
        return Reading(transfers, expansion.numbers, expansion.row, expected=expansion.expected)


def _numbers(transfers: Transfers) -> np.ndarray:
    return np.column_stack([transfers.columns[f"payload_{side}"] for side in transfers.sides])
