"""Which structure a subwindow should have: the paper's advice (003, section V-A4), with its reasons.

The paper measured subwindows of 8 M tuples in 64 K partitions. BI-Sort inserts faster than the others from batches of
64 K tuples on, a 128th of the subwindow, because each batch costs a pass over all of it; it probes faster at any
selectivity, and 100 times faster above some thousand matches a probe, because it answers records instead of copies.
"""

from typing import NamedTuple

from .bi_sort import BiSort
from .rap_table import RapTable
from .subwindow import Subwindow
from .wib_tree import WibTree

LARGE_BATCH = 1 / 128  # of a subwindow
MANY_MATCHES = 1024  # a probe


class Advice(NamedTuple):
    """A structure, and why."""

    structure: type[Subwindow]
    because: str


def advise(*, subwindow: int, batch: int, matches: float, keys_drift: bool) -> Advice:
    """The structure for a workload.

    Parameters
    ----------
    subwindow : tuples of a subwindow
    batch : tuples of a batch
    matches : in a full subwindow, for each probing tuple on average
    keys_drift : keys keep growing, or are spread otherwise from one subwindow to the next
    """
    if matches > MANY_MATCHES:
        return Advice(BiSort, f"{matches:g} matches a probe are two places in BI-Sort and so many copies elsewhere")
    if batch >= LARGE_BATCH * subwindow:
        return Advice(BiSort, f"a pass over {subwindow} tuples is shared by a batch of {batch}, and probing is fastest")
    few = f"a batch of {batch} is too small to pay for a pass over {subwindow} tuples"
    if keys_drift:
        return Advice(WibTree, f"{few}, and keys that drift leave the splitters of the subwindow before behind")
    return Advice(RapTable, f"{few}, and splitters from the subwindow before fit: no leaf has to be split")
