"""The delay line: what went in ``length`` shifts ago, in registers or in memory."""

import random

import pytest
from amaranth.lib import data
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.hdl.lib.delay_line import DelayLine
from tests.hdl.stream_bench import stepped

ITEM = data.StructLayout({"low": 3, "high": 5})


def reference(length, steps):
    """What is at the end in each cycle; None before so many items went in."""
    inside, shown = [None] * length, []
    for step in steps:
        shown.append(inside[-1])
        if step["shift"]:
            inside = [step["i"], *inside[:-1]]
    return shown


def hardware(length, steps):
    return [item for (item,) in stepped(DelayLine(ITEM, length), steps, ["o"])]


@settings(max_examples=12)
@given(length=st.integers(1, 9), shifting=st.sampled_from((0.2, 0.8, 1.0)), seed=st.integers(0, 99))
def test_an_item_comes_out_after_as_many_shifts_as_the_line_is_long(length, shifting, seed):
    rng = random.Random(seed)
    steps = [
        {"i": {"low": rng.randrange(8), "high": rng.randrange(32)}, "shift": rng.random() < shifting} for _ in range(60)
    ]
    expected, found = reference(length, steps), hardware(length, steps)
    defined = [n for n, item in enumerate(expected) if item is not None]
    assert len(defined) > 0 or shifting < 1
    assert [found[n] for n in defined] == [expected[n] for n in defined]


def test_an_empty_line_is_none():
    with pytest.raises(ValueError, match="at least one item, not 0"):
        DelayLine(8, 0)
