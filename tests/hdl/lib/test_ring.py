"""Rings: places follow each other as a counter that wraps does."""

from dataclasses import dataclass

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from streamjoin.hdl.lib.ring import LappedRing, Ring, between


@dataclass(frozen=True)
class Plain(Ring):
    lanes: int
    rows: int


SIZES = [(1, 1), (1, 4), (2, 3), (3, 5), (4, 1)]


def shown(signals, ring: Ring, places: list[dict[str, int]]) -> list[list[int]]:
    """What signals, made of a place, are at each of these places."""
    m = Module()
    place = Signal(ring.place)
    outputs = []
    for value in signals(place):
        outputs.append(Signal(len(value)))
        m.d.comb += outputs[-1].eq(value)
    found = []

    async def bench(ctx):
        for now in places:
            ctx.set(place, now)
            found.append([ctx.get(output) for output in outputs])

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    return found


@pytest.mark.parametrize(("lanes", "rows"), SIZES)
def test_places_follow_each_other_lane_by_lane_and_row_by_row(lanes, rows):
    ring = Plain(lanes, rows)
    places = [{"lane": n % lanes, "row": n // lanes} for n in range(lanes * rows)]
    found = shown(lambda place: [ring.after(place).as_value()], ring, places)
    assert found == [[ring.place.const(place).as_bits()] for place in (*places[1:], places[0])]


@pytest.mark.parametrize(("lanes", "rows"), SIZES)
def test_a_lap_tells_full_from_empty(lanes, rows):
    """Twice round, each place is another one, and each line tells its row and its lap."""
    ring, number = LappedRing(lanes, rows), 2 * lanes * rows
    places = [ring.nth(n) for n in range(number)]
    assert ring.nth(number) == places[0]
    assert len({tuple(place.values()) for place in places}) == number
    found = shown(lambda place: [ring.after(place).as_value(), ring.line_before(place)], ring, places)
    row_bits = ring.place["row"].width
    for n, (after, line_before) in enumerate(found):
        before = places[n - 1]
        assert after == ring.place.const(places[(n + 1) % number]).as_bits()
        assert line_before == before["row"] | before["lap"] << row_bits


@pytest.mark.parametrize("size", [2, 5])
def test_between_goes_round(size):
    for first in range(size):
        for held in range(size):
            end = (first + held) % size
            inside = {(first + n) % size for n in range(held)}
            assert {place for place in range(size) if _between(first, place, end)} == inside


def _between(first: int, place: int, end: int) -> bool:
    m, found = Module(), []
    signals = [Signal(4, init=value) for value in (first, place, end)]
    inside = Signal()
    m.d.comb += inside.eq(between(*signals))

    async def bench(ctx):
        found.append(bool(ctx.get(inside)))

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    return found[0]
