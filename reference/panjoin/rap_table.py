"""RaP-Table: range partitions whose splitters come from the subwindow before (Pan and Jacobsen 2018, section III-B)."""

import numpy as np

from .answers import Answer
from .llat import Llat
from .partition_scan import scan
from .probe import Probe
from .splitters import Histograms, adjusted, even_splitters
from .subwindow import Subwindow, check_partitions


class RapTable(Subwindow):
    """A subwindow in ranges of keys, unsorted within.

    Inserting costs a search among the splitters. Probing compares with the partitions at the ends of a band. The
    splitters fit while keys are spread as they were in the subwindow before; keys that only grow all end up in the
    last partition, and make it slow, not wrong.

    Parameters
    ----------
    partitions : P
    sigma : how much larger than an even share an entry of the table is
    key_width : bits of a key; the first subwindow spreads its splitters evenly over them
    """

    def __init__(self, room: int, partitions: int = 64, sigma: float = 1.25, key_width: int = 32):
        super().__init__(room)
        self.partitions = check_partitions(partitions)
        self.splitters = even_splitters(partitions, key_width)
        self.llat = Llat(room, partitions, sigma, lists=partitions)
        self.histograms = Histograms(partitions)

    def _forget(self) -> None:
        self.llat.clear_all(self.partitions)
        self.histograms = Histograms(self.partitions)

    def follow(self, predecessor: "RapTable") -> None:
        self.splitters = adjusted(predecessor.splitters, predecessor.histograms)

    def _take(self, keys: np.ndarray, ids: np.ndarray) -> None:
        partitions = np.searchsorted(self.splitters, keys, side="left")
        self.llat.append(partitions, keys, ids)
        self.histograms.add(partitions, keys)

    def probe_batch(self, probe: Probe) -> Answer:
        return scan(self.llat, np.arange(self.partitions), self.splitters, probe)
