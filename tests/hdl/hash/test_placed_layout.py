"""The placed layout: of two tuples their numbers tell whether the earlier one was in its window."""

import random
from itertools import product

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib.wiring import Component, In, Out

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.hash.placed_layout import PlacedLayout
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import run

BITS = 3
RANGE = 1 << BITS
HALF = RANGE // 2


class Judge(Component):
    """Two tuples, and what their layout says of them, if one of this side waited for the other one."""

    def __init__(self, layout: PlacedLayout, stored: str):
        self._layout, self._stored = layout, stored
        super().__init__({"r": In(layout.tuple), "s": In(layout.tuple), "due": Out(1)})

    def elaborate(self, platform):
        m = Module()
        # In the design a cycle lies between the two steps.
        distances = [Signal(BITS, name=f"distance_{side}") for side in "rs"]
        for distance, value in zip(distances, self._layout.distances(self.r, self.s), strict=True):
            assert len(value) == BITS
            m.d.comb += distance.eq(value)
        m.d.comb += self.due.eq(self._layout.in_windows(distances, self._stored))
        return m


def ordinary(**given):
    return TupleLayout(parse_predicate("equi"), key_width=3, payload_width=2, **given)


def judged(windows, asked, stored):
    """What is said of pairs, of each tuple its number and that of the next one of the other stream."""
    judge, told = Judge(PlacedLayout.of(ordinary(), windows, BITS), stored), []

    async def bench(ctx):
        for r, s in asked:
            for port, (number, other) in ((judge.r, r), (judge.s, s)):
                ctx.set(port.number, number % RANGE)
                ctx.set(port.other, other % RANGE)
            told.append(ctx.get(judge.due))

    run(judge, bench)
    return told


WINDOWS = [(1, 1), (1, 4), (4, 2), (3, 4)]


def can_be_told(side, stored, behind, ahead):
    """Of the stored tuple's stream few have come; of the other one any number, if the stored tuple came earlier."""
    return behind <= HALF if side == stored else ahead < HALF and behind <= RANGE


@pytest.mark.parametrize("stored", [0, 1])
@pytest.mark.parametrize("windows", WINDOWS)
def test_any_numbers_that_two_tuples_can_have(windows, stored):
    """``behind`` tuples of its stream came from the earlier one on, ``ahead`` of the other one's between the two."""
    asked, due = [], []
    for side, number, other, behind in product(range(2), range(RANGE), range(RANGE), range(1, RANGE + 1)):
        for ahead in (ahead for ahead in range(RANGE) if can_be_told(side, stored, behind, ahead)):
            pair = [(number, other), (other + ahead, number + behind)]
            asked.append(pair if side == 0 else pair[::-1])
            due.append(behind <= windows[side])
    assert judged(windows, asked, "rs"[stored]) == due


@pytest.mark.parametrize("stored", [0, 1])
@pytest.mark.parametrize("windows", WINDOWS)
@pytest.mark.parametrize("share", [0.5, 0.8])
def test_tuples_as_they_come(windows, share, stored):
    """All pairs of a sequence in which numbers wrap, as far apart as the bits can tell."""
    rng, counts, placed = random.Random(sum(windows)), [0, 0], []
    for _ in range(100):
        stream = int(rng.random() < share)
        placed.append((stream, (counts[stream], counts[1 - stream])))
        counts[stream] += 1
    tuples = [[(at, numbers) for at, (stream, numbers) in enumerate(placed) if stream == side] for side in range(2)]
    asked, due = [], []
    for (at_r, r), (at_s, s) in product(*tuples):
        side, earlier, later = (0, r, s) if at_r < at_s else (1, s, r)
        behind = later[1] - earlier[0]
        if can_be_told(side, stored, behind, later[0] - earlier[1]):
            asked.append((r, s))
            due.append(behind <= windows[side])
    assert judged(windows, asked, "rs"[stored]) == due
    assert 0 < sum(due) < len(due)


def test_what_is_placed_is_one_tuple():
    """Inside there are no slots, whatever the ports are, but two numbers and, where there may be several, a home."""
    ports = ordinary(width=4, results_width=2, spans=(3, 4), time_width=9)
    layout = PlacedLayout.of(ports, (5, 6), BITS)
    assert (layout.width, layout.results_width) == (1, 1)
    assert (layout.windows, layout.number_bits, layout.spans) == ((5, 6), BITS, (3, 4))
    widths = {name: field.width for name, field in layout.tuple}
    assert widths == {"key": 3, "time": 9, "payload": 2, "number": BITS, "other": BITS, "home": 0}
    assert layout.result == ports.result
    assert layout.input_payload("s") == ports.arrival
