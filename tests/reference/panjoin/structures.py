"""Hypothesis strategies for the structures of a subwindow."""

from hypothesis import settings
from hypothesis import strategies as st

from streamjoin.reference.panjoin.bi_sort import BiSort
from streamjoin.reference.panjoin.rap_table import RapTable
from streamjoin.reference.panjoin.wib_tree import WibTree

SIGMAS = st.sampled_from((1, 1.1, 1.25, 3))
PARTITIONS = st.integers(1, 12)


def at_least(examples):
    """So many cases, and more where the profile wants more."""
    return settings(max_examples=max(examples, settings().max_examples))


def subwindows(kind, rooms):
    """Empty subwindows of one kind, of all shapes."""
    own = {
        BiSort: {"buffer": st.integers(1, 12)},
        RapTable: {"sigma": SIGMAS, "key_width": st.sampled_from((5, 32))},
        WibTree: {"sigma": SIGMAS, "fan": st.integers(2, 5), "sorted_leaves": st.booleans()},
    }[kind]
    return st.builds(kind, rooms, PARTITIONS, **own)
