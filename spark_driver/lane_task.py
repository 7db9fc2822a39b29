"""What a micro-batch does with one lane: its new tuples through a simulator whose windows come from Spark's state.

A micro-batch is a segment: the tuples that can still be met at its end are the warm-up of the next one, and they are
all that is kept between the two, beside some figures. So the results of a lane do not depend on where it was cut, and
a batch that is run anew, after whatever happened to the first attempt, gives what that would have given.
"""

import io
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from pyspark.sql.streaming.state import GroupState

from streamjoin.reference.arrivals import Arrivals, Windows, concatenate
from streamjoin.reference.errors import DesignError
from streamjoin.reference.segments import Segment, can_be_met
from streamjoin.sim.run.simulate import Simulator
from streamjoin.spark_driver.losses import Losses
from streamjoin.spark_driver.segments import own_results, with_times_from_zero
from streamjoin.spark_driver.shipping import ShippedModel

STATE = "position bigint, cycles bigint, losses string, held binary"
_COLUMNS = ("stream", "key", "key2", "time")


class WrongResultError(RuntimeError):
    """A design gave a wrong result; the message says where. Its name is looked for in what Spark says."""


@dataclass(frozen=True)
class Held:
    """A lane between two micro-batches.

    Attributes
    ----------
    position
        How many tuples it has had.
    cycles
        How many clock cycles they took.
    losses
        What they lost by overflow.
    tuples, numbers
        What can still be met, and the arrival numbers of that.
    """

    position: int
    cycles: int
    losses: Losses
    tuples: Arrivals
    numbers: np.ndarray

    @classmethod
    def of(cls, state: GroupState, columns: tuple[str, ...]) -> "Held":
        if not state.exists:
            empty = {name: np.empty(0, np.int64) for name in ("stream", *columns)}
            return cls(0, 0, Losses(), Arrivals(**empty), np.empty(0, np.int64))
        position, cycles, losses, held = state.get
        with np.load(io.BytesIO(held), allow_pickle=False) as arrays:
            stored = dict(arrays)
        numbers = stored.pop("numbers")
        return cls(position, cycles, Losses.from_text(losses), Arrivals(**stored), numbers)

    def store(self, state: GroupState) -> None:
        arrays = {name: getattr(self.tuples, name) for name in _COLUMNS if getattr(self.tuples, name) is not None}
        buffer = io.BytesIO()
        np.savez(buffer, numbers=self.numbers, **arrays)
        state.update((self.position, self.cycles, self.losses.to_text(), buffer.getvalue()))


@dataclass(frozen=True)
class LaneTask:
    """Called by Spark with the tuples of a lane in a micro-batch; gives their results.

    Parameters
    ----------
    columns : of key, key2 and time those that tuples have
    """

    model: ShippedModel
    columns: tuple[str, ...]

    def __call__(self, group: tuple, frames: Iterator[pd.DataFrame], state: GroupState) -> Iterator[pd.DataFrame]:
        (lane,) = group
        batch = pd.concat(list(frames)).sort_values("seq")
        held = Held.of(state, self.columns)
        if batch["seq"].tolist() != list(range(held.position, held.position + len(batch))):
            raise RuntimeError(f"lane {lane} has had {held.position} tuples, but Spark did not go on from there")
        new = Arrivals(**{name: batch[name].to_numpy() for name in ("stream", *self.columns)})
        results, held = advance(self.model.simulator(), held, new, lane)
        held.store(state)
        yield results


def advance(simulator: Simulator, held: Held, new: Arrivals, lane: int) -> tuple[pd.DataFrame, Held]:
    """The results of new tuples of a lane, every one checked, and what is held afterwards."""
    parameters = simulator.parameters
    windows = Windows(parameters.windows, parameters.spans)
    arrivals = concatenate([held.tuples, new])
    end = held.position + len(new)
    numbers = np.concatenate([held.numbers, np.arange(held.position, end)])
    segment = Segment(arrivals, numbers, len(held.tuples), len(parameters.streams))
    where = f"lane {lane}, tuples {held.position} to {end - 1}"
    try:
        simulation = simulator.run(with_times_from_zero(segment, parameters).arrivals, check=False)
        simulation = simulation.checked(segment.warm_up)
    except DesignError as error:
        raise WrongResultError(f"{where}: {error}") from error
    difference = simulation.known_difference
    if not difference.design_is_right:
        raise WrongResultError(f"{where} differ from the reference: {difference.describe()}")
    results = own_results(simulation, segment)
    columns = {
        "lane": np.full(len(results.cycle), lane, np.int32),
        **dict(zip(parameters.streams, results.numbers.T, strict=True)),
        **{name: column.astype(np.int64) for name, column in results.keys.items()},
        "cycle": results.cycle + held.cycles,
    }
    kept = can_be_met(arrivals, windows, None if windows.spans is None else int(arrivals.times[-1]))
    losses, cycles = held.losses, held.cycles + simulation.run.cycles
    if windows.spans is not None:
        losses += Losses(segment.overflows(windows), difference.missing_by_overflow, simulation.needed_rooms)
    return pd.DataFrame(columns), Held(end, cycles, losses, arrivals[kept], numbers[kept])
