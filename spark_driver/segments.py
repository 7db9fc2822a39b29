"""Segments as the simulator wants them, and their results as they count in the whole."""

from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.reference.arrivals import Windows
from streamjoin.reference.segments import Segment, Source, cut
from streamjoin.sim.run.simulate import Simulation


class OwnResults(NamedTuple):
    """The results of a segment whose later tuple is no warm-up.

    Attributes
    ----------
    numbers
        The arrival numbers in the whole, a row a result.
    cycle, latency
        When they left, in cycles of the segment, and how long after their later tuple was taken.
    keys
        Their keys, by the names of the columns.
    """

    numbers: np.ndarray
    cycle: np.ndarray
    latency: np.ndarray
    keys: dict[str, np.ndarray]


def cut_segment(parameters: JoinParameters, source: Source, first: int, last: int) -> Segment:
    """Arrivals [first, last) of the source with their warm-up, ready for the simulator."""
    return with_times_from_zero(cut(source, Windows(parameters.windows, parameters.spans), first, last), parameters)


def with_times_from_zero(segment: Segment, parameters: JoinParameters) -> Segment:
    """The same with times counted from its first tuple on.

    Only differences of time matter: a run may be longer than timestamps are wide, a segment may not.
    """
    if parameters.spans is None or not len(segment.arrivals):
        return segment
    time = segment.arrivals.times - segment.arrivals.times[0]
    if int(time[-1]) >> parameters.time_width:
        raise ParameterError(
            f"time_width={parameters.time_width} is too narrow for a segment: raise it, or make segments smaller"
        )
    return replace(segment, arrivals=replace(segment.arrivals, time=time))


def own_results(simulation: Simulation, segment: Segment) -> OwnResults:
    """The results that count."""
    # Column by column: NumPy is slow at many rows of two or three numbers each.
    columns = list(simulation.numbers.T)
    latest = reduce(np.maximum, columns)
    # A wrong design may give results of tuples that never were; the check has seen them.
    rows = np.flatnonzero((latest < len(segment.arrivals)) & (latest >= segment.warm_up))
    cycle = simulation.run.result_cycle[rows]
    columns = [column[rows] for column in columns]
    accepted = reduce(np.maximum, [simulation.run.accepted_cycle[column] for column in columns])
    keys = {name: column[rows] for name, column in simulation.key_columns.items()}
    numbers = np.stack([segment.numbers[column] for column in columns], axis=1)
    return OwnResults(numbers, cycle, cycle - accepted, keys)
