"""Both ends of streams, and a memory, for components in Amaranth's simulator."""

import random
from collections.abc import Iterable, Mapping, Sequence

from amaranth.hdl import Module, Signal
from amaranth.lib import data
from amaranth.sim import Simulator


def run(component, *benches, background=()) -> None:
    """Simulate until all benches have ended."""
    top = Module()
    top.submodules.dut = component
    top.d.sync += Signal(name="ticks").eq(0)  # so that there is a clock, even if the component needs none
    simulator = Simulator(top)
    simulator.add_clock(1e-6)
    for bench in benches:
        simulator.add_testbench(bench)
    for bench in background:
        simulator.add_testbench(bench, background=True)
    simulator.run()


def stepped(component, inputs: Iterable[Mapping], outputs: Sequence[str]) -> list[tuple]:
    """Set these inputs cycle by cycle, by name; what the outputs are in each cycle, all of it as plain Python."""
    seen = []

    async def bench(ctx):
        for values in inputs:
            for name, value in values.items():
                ctx.set(getattr(component, name), value)
            _, _, *row = await ctx.tick().sample(*(getattr(component, name) for name in outputs))
            seen.append(tuple(plain(value) for value in row))

    run(component, bench)
    return seen


def plain(value):
    """What the simulator shows, as integers in dictionaries and lists."""
    if not isinstance(value, data.Const):
        return value
    shape = value.shape()
    if isinstance(shape, data.ArrayLayout):
        return [plain(value[n]) for n in range(shape.length)]
    return {name: plain(value[name]) for name, _ in shape}


def source(port, items: Iterable, stall: float = 0.0, seed: int = 0):
    """A bench that offers items, and pauses before one with the probability ``stall``."""
    rng = random.Random(seed)

    async def bench(ctx):
        for item in items:
            while rng.random() < stall:
                await ctx.tick()
            ctx.set(port.p, item)
            ctx.set(port.valid, 1)
            await ctx.tick().until(port.ready)
            ctx.set(port.valid, 0)

    return bench


def sink(port, count: int, into: list, stall: float = 0.0, seed: int = 1, within: int = 20_000):
    """A bench that takes ``count`` items, and notes each with its cycle."""
    rng = random.Random(seed)

    async def bench(ctx):
        for cycle in range(within if count else 0):
            ctx.set(port.ready, rng.random() >= stall)
            _, _, valid, ready, item = await ctx.tick().sample(port.valid, port.ready, port.p)
            if valid and ready:
                into.append((cycle, item))
            if len(into) == count:
                ctx.set(port.ready, 0)
                return
        assert not count, f"{len(into)} of {count} items came within {within} cycles"

    return bench


def memory(port, lines: list, latency: int = 1, asked: list | None = None):
    """A bench that stands for a memory: it takes a request in every cycle, and responds ``latency`` cycles later.

    The numbers of lines that are asked for go into ``asked``, if it is given.
    """

    async def bench(ctx):
        under_way = [None] * latency
        ctx.set(port.request.ready, 1)
        async for _, _, valid, request in ctx.tick().sample(port.request.valid, port.request.p):
            under_way.append(request if valid else None)
            if valid and asked is not None:
                asked.append(request.what if hasattr(request, "client") else request)
            due = under_way.pop(0)
            ctx.set(port.response.valid, due is not None)
            if due is not None:
                tagged = hasattr(due, "client")
                line = lines[due.what if tagged else due]
                ctx.set(port.response.p, {"what": line, "client": due.client} if tagged else line)

    return bench
