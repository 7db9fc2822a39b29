"""The chain of subwindows: which region each slot has, and how many tuples, against a list."""

import random

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.hdl.bisort.subwindow_chain import SubwindowChain
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import stepped

LAYOUT = TupleLayout(parse_predicate("equi"), key_width=6, payload_width=8)
SUBWINDOW = 8
ARRAYS = SortedArrays(LAYOUT, (5, 12), SUBWINDOW, 1, 4, 1)


def orders(stream, seed):
    """What the owner of a chain does: tuples go into the newest until it is full, then the next one begins."""
    rng, filled = random.Random(seed), 0
    for _ in range(300):
        step = {"advance": 0, "commit": 0, "region": rng.randrange(ARRAYS.regions), "fresh": 0}
        step["slot"] = rng.randrange(ARRAYS.chains[stream])
        if filled == SUBWINDOW:
            step["advance"], filled = 1, 0
        elif rng.random() < 0.5:
            step["commit"], step["fresh"] = 1, rng.randint(0, SUBWINDOW - filled)
            filled += step["fresh"]
        yield step


def reference(stream, steps):
    """In each cycle: the newest subwindow, whether it is full, and the one whose slot was named a cycle before."""
    length, first = ARRAYS.chains[stream], stream * ARRAYS.chains[0]
    slots = [{"region": first + n, "count": 0} for n in range(length)]
    newest, named, seen = 0, {"region": 0, "count": 0}, []
    for step in steps:
        seen.append((dict(slots[newest]), int(slots[newest]["count"] == SUBWINDOW), named))
        named = dict(slots[step["slot"]])
        if step["advance"]:
            newest = (newest + 1) % length
            slots[newest]["count"] = 0
        if step["commit"]:
            slots[newest] = {"region": step["region"], "count": slots[newest]["count"] + step["fresh"]}
    return seen


@pytest.mark.parametrize("stream", [0, 1])
def test_slots_go_round(stream):
    steps = list(orders(stream, seed=stream))
    assert sum(step["advance"] for step in steps) > 2 * ARRAYS.chains[stream], "each slot is used again"
    hardware = stepped(SubwindowChain(ARRAYS, stream), steps, ["newest", "full", "array"])
    assert hardware == reference(stream, steps)
