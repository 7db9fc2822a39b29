"""A chain of cores is laid through the rows of block RAM, to and fro, or in a loop."""

from itertools import pairwise

import pytest

from streamjoin.synth.flow.floorplan import Floorplan
from streamjoin.synth.flow.targets import find

ROWS = tuple(tuple(f"X{x}/Y{y}" for x in range(10)) for y in (0, 20, 40))


def rams(cores, each):
    return [f"dut.core{core}.ram{n}" for core in range(cores) for n in range(each)]


def at(place):
    x, y = place.split("/")
    return int(x[1:]), int(y[1:])


@pytest.mark.parametrize(("cores", "each"), [(1, 1), (3, 10), (7, 2), (12, 2), (30, 1)])
def test_neighbours_stay_neighbours(cores, each):
    places = Floorplan(ROWS).places(rams(cores, each))
    assert sorted(places) == sorted(rams(cores, each))
    assert len(set(places.values())) == cores * each
    middle = [at(places[f"dut.core{core}.ram{each // 2}"]) for core in range(cores)]
    apart = 10 / -(-cores // 3) + 1
    for (x, y), (next_x, next_y) in pairwise(middle):
        assert abs(next_x - x) <= apart
        assert abs(next_y - y) in (0, 20)


@pytest.mark.parametrize("cores", [2, 5, 6, 11, 12, 16, 24, 30])
def test_the_ends_of_a_loop_meet(cores):
    places = Floorplan(ROWS, closed=True).places(rams(cores, 1))
    assert len(set(places.values())) == cores
    path = [at(places[f"dut.core{core}.ram0"]) for core in range(cores)]
    per_row = -(-cores // 3)
    apart = 10 / (per_row + per_row % 2) + 1
    for (x, y), (next_x, next_y) in pairwise([*path, path[0]]):
        # At the turn a column may be left out.
        assert abs(next_x - x) <= 2 * apart
        assert abs(next_y - y) <= (20 if cores % 6 == 0 else 40)


def test_what_does_not_fit_stays_free():
    assert Floorplan(ROWS).places(rams(4, 6)) == {}
    assert Floorplan(ROWS, closed=True).places(rams(7, 3)) == {}
    assert Floorplan(ROWS).places(["dut.tree.ram0", "dut.score7.ram1"]) == {}


def test_only_block_rams_of_cores_are_pinned():
    cells = {
        "dut.core0.history": {"type": "RAM", "attributes": {}},
        "dut.core0.key": {"type": "FF", "attributes": {}},
        "dut.admission.times": {"type": "RAM", "attributes": {}},
    }
    Floorplan(ROWS).pin_rams({"modules": {"harness": {"cells": cells}}}, {"RAM"})
    assert [name for name, cell in cells.items() if "BEL" in cell["attributes"]] == ["dut.core0.history"]


@pytest.mark.parametrize("name", ["ecp5-25k", "ecp5-45k", "ecp5-85k"])
def test_ecp5_has_as_many_places_as_block_rams(name):
    target = find(name)
    places = [place for row in target.ram_rows for place in row]
    assert len(set(places)) == len(places) == target.capacity["brams"]
