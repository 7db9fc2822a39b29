"""Numbers, places and holes: what a ring that is no power of two long counts, by brute force."""

import random
from dataclasses import dataclass

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from streamjoin.hdl.hash.window_ring import LEAST_SLACK, OVERSHOOT, WindowRing
from tests.hdl.stream_bench import stepped

WINDOWS = [*range(1, 70), *range(250, 262), 500, 767, 768, 769, 1000, 4000, 4096, 4864, 4865, 65536, 100_000, 1 << 20]


@dataclass(frozen=True)
class Small(WindowRing):
    """A ring of any number of places that one may have, so that all of them can be tried."""

    size: int = 4

    @property
    def places(self) -> int:
        return self.size


SIZES = [4, 5, 6, 8, 10, 12, 16, 20, 24, 40]


@pytest.mark.parametrize("window", WINDOWS)
def test_there_are_as_few_places_as_will_do(window):
    ring = WindowRing(window)
    sizes = [part << n for part in (4, 5, 6) for n in range(30)]
    assert ring.places == min(size for size in sizes if size >= window + LEAST_SLACK)
    assert (1 << ring.bits) - ring.hole == ring.places <= 1 << ring.bits
    assert ring.hole < ring.places
    assert dict(ring.number.members) == {"place": ring.bits, "lap": max(2, 16 - ring.bits)}
    # In two epochs, and what comes too late to be held back, no place of the window is written again.
    assert ring.epoch >= 2
    assert window + 2 * ring.epoch + OVERSHOOT <= ring.places


@pytest.mark.parametrize("size", SIZES)
def test_going_back_jumps_over_the_hole(size):
    """From each place, as many steps as there are places; and which bits name a place at all."""
    ring = Small(1, size)
    m, found = Module(), []
    place, steps, jumped = (Signal(ring.bits, name=name) for name in ("place", "steps", "jumped"))
    wraps, real = Signal(), Signal()
    # As in the hardware: whether there is a jump is known in one cycle, and made in the next.
    down, jumps = ring.back(place, steps)
    m.d.comb += [wraps.eq(jumps), jumped.eq(ring.jumped(down, jumps)), real.eq(ring.is_place(place))]

    async def bench(ctx):
        for at in range(1 << ring.bits):
            ctx.set(place, at)
            assert ctx.get(real) == (at < size)
            for back in range(size if at < size else 0):
                ctx.set(steps, back)
                assert (ctx.get(jumped), ctx.get(wraps)) == ((at - back - 1) % size, back >= at)
                found.append(at)

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    assert len(found) == size**2


class Counts(wiring.Component):
    """The number of the next tuple."""

    def __init__(self, ring: WindowRing):
        self._ring = ring
        super().__init__({"comes": In(1), "number": Out(ring.number)})

    def elaborate(self, _):
        m = Module()
        m.d.comb += self.number.eq(self._ring.count(m, self.comes))
        return m


@pytest.mark.parametrize("size", SIZES)
def test_numbers_count_places_and_laps(size):
    ring, rng, due, expected = Small(1, size), random.Random(size), 0, []
    steps = [{"comes": rng.random() < 0.8} for _ in range(6 * size)]
    first = 1 << ring.number["lap"].width - 1
    for step in steps:
        expected.append({"place": due % size, "lap": first + due // size})
        due += step["comes"]
    assert [number for (number,) in stepped(Counts(ring), steps, ["number"])] == expected
    assert due > 4 * size


@dataclass(frozen=True)
class Narrow(Small):
    """Whose numbers have as few bits as a lap may have."""

    @property
    def number(self) -> data.StructLayout:
        return data.StructLayout({"place": self.bits, "lap": 2})


def test_laps_wrap_round():
    ring = Narrow(1, 5)
    seen = stepped(Counts(ring), [{"comes": 1}] * 100, ["number"])
    assert seen == [({"place": n % 5, "lap": (2 + n // 5) % 4},) for n in range(100)]
