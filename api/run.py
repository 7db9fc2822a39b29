"""What came out of a simulation."""

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from streamjoin.notebook import summary_as_html
from streamjoin.sim.run.simulate import Simulation
from streamjoin.sim.tuples.tables import results_table, write_table


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A simulation that has ended; :meth:`streamjoin.Join.simulate` makes one. A notebook shows it as a table.

    Attributes
    ----------
    simulation
        All that is known of it; what it has may move.
    """

    simulation: Simulation

    @property
    def exact(self) -> bool:
        """Whether each of the reference's results came out exactly once, and no other; ``False`` if nobody looked."""
        return self.simulation.exact

    @property
    def results(self) -> pa.Table:
        """A row a result, in the order in which they came.

        A column for each stream (``R`` and ``S``, or ``S1`` to ``SN``) has the arrival number of the tuple that took
        part; ``key``, or ``key_R`` and ``key_S`` where they differ, the keys; ``cycle`` when the result left.
        """
        simulation = self.simulation
        return results_table(
            simulation.numbers,
            simulation.key_columns,
            simulation.run.result_cycle,
            simulation.simulator.parameters.streams,
        )

    @property
    def latencies(self) -> np.ndarray:
        """For each result the cycles from the acceptance of its later tuple to its leaving."""
        return self.simulation.latencies

    def summary(self) -> dict[str, Any]:
        """The figures, as ``streamjoin sim --json`` has them: throughput, latency, stalls, what the check found."""
        return self.simulation.summary()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the results as CSV or Parquet, as the name says, whole or not at all."""
        write_table(os.fspath(path), self.results)

    def __repr__(self) -> str:
        figures = self.summary()
        verdict = figures["check"] if isinstance(figures["check"], str) else "not exact"
        return f"<Run of {figures['design']}: {figures['tuples']} tuples, {figures['results']} results, {verdict}>"

    def _repr_html_(self) -> str:
        design = self.simulation.simulator.design
        return summary_as_html(self.summary(), design.summary, design.parameters().as_dict())
