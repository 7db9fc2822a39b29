"""What records stand for: pairs in the order in which batches were processed, by a mirror of the design's arrays."""

import dataclasses

import numpy as np

from streamjoin.hdl.base.parameters import JoinParameters
from streamjoin.reference.arrivals import Arrivals
from streamjoin.sim.run.model import DesignError, Run
from streamjoin.sim.tuples import numbering


@dataclasses.dataclass(frozen=True, eq=False)
class Expansion:
    """The pairs of a run's records, and those that there should be.

    Attributes
    ----------
    run
        The run with a result for each pair, instead of one for each record.
    numbers, expected
        Arrival numbers of R and S. A record cannot say which of the tuples in its range have left their window since,
        or came later in the same batch; so these are all pairs of a tuple that probes with what is stored at that
        moment, which is the window rounded up to whole subwindows.
    """

    run: Run
    numbers: np.ndarray
    expected: np.ndarray


class _Chain:
    """The subwindows of a stream, oldest first: for each the region it lies in, and its arrival numbers by key."""

    def __init__(self, length: int, subwindow: int):
        self._length, self._subwindow = length, subwindow
        self.regions: dict[int, np.ndarray] = {}

    def insert(self, region: int, numbers: np.ndarray, keys: np.ndarray) -> None:
        newest = next(reversed(self.regions), None)
        held = np.empty(0, np.int64)
        if newest is not None and len(self.regions[newest]) < self._subwindow:
            held = self.regions.pop(newest)
        elif len(self.regions) == self._length:
            del self.regions[next(iter(self.regions))]
        if region in self.regions or len(held) + len(numbers) > self._subwindow:
            raise DesignError(f"a step put {len(numbers)} tuples into region {region}, where there is no room for them")
        merged = np.concatenate([held, numbers])
        self.regions[region] = merged[np.argsort(keys[merged], kind="stable")]

    @property
    def stored(self) -> np.ndarray:
        return np.concatenate([np.empty(0, np.int64), *self.regions.values()])


def expand(run: Run, arrivals: Arrivals, parameters: JoinParameters) -> Expansion:
    """Follow the records of a run, step by step; DesignError where they make no sense."""
    arrays = parameters.arrays
    accepted = np.flatnonzero(~run.discarded & (run.accepted_cycle >= 0))
    waiting = [accepted[arrivals.stream[accepted] == stream] for stream in (0, 1)]
    chains = [_Chain(length, arrays.subwindow) for length in arrays.chains]
    mark = run.result["mark"].astype(bool)
    probing = numbering.numbers(run.result["payload"], parameters.payload_width)
    ends = np.flatnonzero(mark)
    pairs, rows, expected = [], [], []
    begin = 0
    for end in ends:
        stream = int(run.result["of_s"][end])
        probes, waiting[stream] = np.split(waiting[stream], [int(run.result["count"][end])])
        for row in range(begin, end):
            region, first = divmod(int(run.result["first"][row]), arrays.subwindow)
            matches = chains[1 - stream].regions.get(region, np.empty(0, np.int64))[first:][
                : int(run.result["count"][row])
            ]
            if len(matches) != run.result["count"][row]:
                raise DesignError(f"result {row} is of places in region {region} where nothing is")
            pair = np.empty((len(matches), 2), np.int64)
            pair[:, stream], pair[:, 1 - stream] = probing[row], matches
            pairs.append(pair)
            rows.append(np.full(len(matches), row))
        expected.append(_meetings(arrivals, parameters, stream, probes, chains[1 - stream].stored))
        chains[stream].insert(int(run.result["first"][end]) // arrays.subwindow, probes, arrivals.key)
        begin = end + 1
    if run.finished and (begin != len(mark) or any(map(len, waiting))):
        raise DesignError(f"{len(mark) - begin} records and {sum(map(len, waiting))} tuples are of no step")
    rows = np.concatenate([np.empty(0, np.int64), *rows])
    kept = {"payload": run.result["payload"][rows]}
    return Expansion(
        dataclasses.replace(run, result=kept, result_cycle=run.result_cycle[rows]),
        np.concatenate([np.empty((0, 2), np.int64), *pairs]),
        np.concatenate([np.empty((0, 2), np.int64), *expected]),
    )


def _meetings(arrivals, parameters, stream, probes, stored) -> np.ndarray:
    """All pairs of these tuples that match."""
    sides = (probes, stored) if stream == 0 else (stored, probes)
    r, s = np.meshgrid(*sides, indexing="ij")
    holds = parameters.predicate.holds_for(arrivals[r.ravel()], arrivals[s.ravel()])
    return np.column_stack([r.ravel()[holds], s.ravel()[holds]])
