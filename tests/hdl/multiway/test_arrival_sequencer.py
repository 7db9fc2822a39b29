"""The gate of multi-way joins, against plain Python: order, numbers, and how many are under way."""

import random
from collections import deque

import pytest
from amaranth.sim import Simulator

from streamjoin.hdl.circular.parameters import CircularParameters
from streamjoin.hdl.multiway.arrival_sequencer import ArrivalSequencer

STREAMS = 4


def gate(flight: int, on_full: str, lines=tuple(range(STREAMS))) -> ArrivalSequencer:
    parameters = CircularParameters.parse({"streams": STREAMS, "window": 8, "flight": flight})
    return ArrivalSequencer(parameters.combination, parameters.windows, lines=lines, on_full=on_full, start=2, settle=2)


class Behind:
    """What is behind the gate: arrivals complete at random, those of one line in their order."""

    def __init__(self, lines, rng):
        self.queues = [deque() for _ in range(max(lines) + 1)]
        self._lines = lines
        self._rng = rng
        self.under_way = deque()
        self._complete = set()

    def take(self, number, stream):
        self.queues[self._lines[stream]].append(number)
        self.under_way.append(number)

    def complete(self, probability) -> int:
        """A bit for each line of which one completes."""
        bits = 0
        for line, queue in enumerate(self.queues):
            if queue and self._rng.random() < probability:
                self._complete.add(queue.popleft())
                bits |= 1 << line
        while self.under_way and self.under_way[0] in self._complete:
            self._complete.remove(self.under_way.popleft())
        return bits


@pytest.mark.parametrize("on_full", ["stall", "drop"])
@pytest.mark.parametrize("flight", [1, 2, 7])
@pytest.mark.parametrize("lines", [(0, 1, 2, 3), (0, 0, 1, 1)])
def test_all_that_is_accepted_passes_in_order_and_no_more_than_there_is_room_for(flight, on_full, lines):
    rng, dut = random.Random(flight), gate(flight, on_full, lines)

    async def bench(ctx):
        behind, accepted, passed, lost, keys = Behind(lines, rng), deque(), 0, 0, 0
        offers = [None] * STREAMS
        for cycle in range(800):
            slow = cycle // 200 % 2
            for stream, port in enumerate(dut.ports):
                if offers[stream] is None and rng.random() < (0.9 if slow else 0.3):
                    offers[stream] = keys = keys + 1
                ctx.set(port.valid, offers[stream] is not None)
                ctx.set(port.p.key, offers[stream] or 0)
            discarding, halted = ctx.get(dut.discarding), ctx.get(dut.halted)
            assert discarding == (halted if on_full == "drop" else 0)
            # All are ready in the same cycles: those of one cycle pass in the order of their streams.
            for stream, port in enumerate(dut.ports):
                if ctx.get(port.ready) and offers[stream] is not None:
                    if discarding:
                        lost += 1
                    else:
                        accepted.append((offers[stream], stream))
                    offers[stream] = None
            if ctx.get(dut.goes):
                key, stream = accepted.popleft()
                assert ctx.get(dut.arrival.tuple.key) == key
                assert ctx.get(dut.arrival.ahead) == stream
                assert ctx.get(dut.arrival.number) == passed % (1 << len(dut.arrival.number))
                behind.take(passed, stream)
                passed += 1
                assert len(behind.under_way) <= flight
            ctx.set(dut.complete, behind.complete(0.1 if slow else 0.9))
            await ctx.tick()
        for port in dut.ports:
            ctx.set(port.valid, 0)
        await ctx.tick().repeat(2)
        assert passed > 40
        assert ctx.get(dut.dropped) == lost
        assert (lost > 0) == (on_full == "drop")

    run(dut, bench)


def test_a_tuple_passes_in_every_cycle_if_there_is_room():
    dut = gate(32, "stall")

    async def bench(ctx):
        for port in dut.ports:
            ctx.set(port.valid, 1)
        behind, went = Behind((0, 1, 2, 3), random.Random(1)), []
        for _ in range(200):
            went.append(ctx.get(dut.goes))
            if went[-1]:
                behind.take(sum(went), ctx.get(dut.arrival.ahead))
            ctx.set(dut.complete, behind.complete(1.0))
            await ctx.tick()
        assert all(went[20:])

    run(dut, bench)


def run(dut, bench) -> None:
    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
