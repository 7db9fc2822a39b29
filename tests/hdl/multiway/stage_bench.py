"""The join core of a stage, driven round by round, and what it should find: the same for scans and for lookups."""

import random
from collections import deque
from types import SimpleNamespace

from amaranth.hdl import Signal

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.multiway.combination import Combination
from streamjoin.hdl.multiway.window_places import WindowPlaces
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import run

STREAMS, FLIGHT = 3, 8


def combination(predicate, span=None) -> Combination:
    sides = tuple(f"s{n + 1}" for n in range(STREAMS))
    spans = None if span is None else (span,) * STREAMS
    layout = TupleLayout(
        parse_predicate(predicate), key_width=4, payload_width=12, time_width=10, spans=spans, sides=sides
    )
    return Combination(layout, FLIGHT)


class CoreBench:
    """Arrivals pass, and combinations of those that have passed are compared with what they saw.

    Half way through, the core is reset while combinations are being compared, and begins anew.

    ``found`` has, for each depth, a list of places in order for each combination; ``expected`` the same by hand.
    """

    def __init__(
        self, core, shape: Combination, places: WindowPlaces, depths: int, *, after=True, before=True, warm_up=0
    ):
        self.core, self.shape, self.places, self.depths = core, shape, places, depths
        self.after, self.before, self.warm_up = after, before, warm_up
        self.found = [[[]] for _ in range(depths)]
        self.expected = [[] for _ in range(depths)]
        self._holds = shape.layout.predicate.holds
        core.reset = Signal()

    def _goes(self, depth, probe, resting):
        previous, origin = (SimpleNamespace(key=probe[name]) for name in ("previous", "origin"))
        mate = SimpleNamespace(key=resting["key"])
        holds = not (self.after or self.shape.equi) or bool(self._holds(previous, mate))
        if self.before and not self.shape.equi and depth == self.depths - 1:
            holds = holds and bool(self._holds(mate, origin))
        if self.shape.span is not None:
            holds = holds and probe["time"] - resting["time"] < self.shape.span
        return holds

    def run(self, *, rounds=12, keys=4, pause=0.0, seed=1):
        rng, core, places = random.Random(seed), self.core, self.places
        timed, equi = self.shape.span is not None, self.shape.equi
        clock, arrivals, window = 0, 0, deque(maxlen=places.window)

        async def one_round(ctx):
            nonlocal clock, arrivals
            numbered = []
            for _ in range(rng.randint(1, FLIGHT)):
                clock += rng.randrange(3)
                one = {"key": rng.randrange(keys), "payload": arrivals, **({"time": clock} if timed else {})}
                own, number = rng.random() < 0.5, arrivals % FLIGHT
                ctx.set(core.arrival, {"tuple": one, "number": number, "ahead": 0 if own else rng.randint(1, 2)})
                ctx.set(core.passes, 1)
                numbered.append((number, clock, list(window)))
                if own:
                    free = ctx.get(core.free)
                    window.append(((free["row"], free.lane), one))
                await ctx.tick()
                arrivals += 1
            ctx.set(core.passes, 0)
            jobs = [deque(self._job(rng, depth, numbered, keys)) for depth in range(self.depths)]
            await self._compare(ctx, rng, jobs, pause, timed, equi)

        async def bench(ctx):
            nonlocal arrivals
            for half in range(2):
                if half:
                    await self._reset(ctx)
                    window.clear()
                    arrivals = 0
                if self.warm_up:
                    await ctx.tick().repeat(self.warm_up)
                for _ in range(rounds // 2):
                    await one_round(ctx)

        run(core, bench)

    async def _reset(self, ctx):
        """In the midst of work that nobody waits for."""
        for port in self.core.i:
            ctx.set(port.valid, 1)
        await ctx.tick().repeat(5)
        ctx.set(self.core.reset, 1)
        await ctx.tick()
        ctx.set(self.core.reset, 0)
        for port in self.core.i:
            ctx.set(port.valid, 0)

    def _job(self, rng, depth, numbered, keys):
        """Combinations of one depth, in the order of their arrivals; some are but ends."""
        for number, time, window in numbered:
            for _ in range(rng.randrange(3)):
                probe = {"previous": rng.randrange(keys), "origin": rng.randrange(keys), "time": time}
                some = rng.random() < 0.8
                goes = [place for place, resting in window if some and self._goes(depth, probe, resting)]
                self.expected[depth].append(goes)
                yield number, some, probe

    async def _compare(self, ctx, rng, jobs, pause, timed, equi):
        core = self.core
        since = [0] * self.depths
        for cycle in range(2000):
            for n, port in enumerate(core.i):
                ctx.set(port.valid, bool(jobs[n]))
                if jobs[n]:
                    number, some, probe = jobs[n][0]
                    asked = {"previous": {"key": probe["previous"]}}
                    asked |= {} if equi else {"origin": {"key": probe["origin"]}}
                    asked |= {"time": probe["time"]} if timed else {}
                    ctx.set(port.p, {"number": number, "some": some, "probe": asked})
            paused = [rng.random() < pause for _ in range(self.depths)]
            ctx.set(core.pause, sum(bit << n for n, bit in enumerate(paused)))
            _, _, *seen = await ctx.tick().sample(*(port.ready for port in core.i), *core.o)
            for n in range(self.depths):
                if jobs[n] and seen[n]:
                    jobs[n].popleft()
                out = seen[self.depths + n]
                since[n] = since[n] + out.valid if paused[n] else 0
                assert since[n] <= core.RESERVE, "too many come after a pause"
                if out.valid:
                    self._note(n, out.match, cycle)
            if all(len(self.found[n]) == len(self.expected[n]) + 1 for n in range(self.depths)):
                return
        raise AssertionError("not all combinations came to their end")

    def _note(self, depth, match, cycle):
        for lane in range(self.places.lanes):
            if match.found >> lane & 1:
                self.found[depth][-1].append((match.next_row if lane < match.lane else match.row, lane))
        if match.last:
            self.found[depth].append([])

    def check(self):
        for found, expected in zip(self.found, self.expected, strict=True):
            assert found.pop() == []
            assert [sorted(places) for places in found] == [sorted(places) for places in expected]
            assert sum(map(len, expected)) > 10
