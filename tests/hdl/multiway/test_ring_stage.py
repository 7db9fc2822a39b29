"""A stage of the ring: what it stores, what it finds for arrivals and for combinations, and when those are complete."""

import random
from collections import Counter, deque
from types import SimpleNamespace

import pytest

from streamjoin.hdl.multiway.ring_stage import RingStage
from streamjoin.hdl.multiway.window_places import WindowPlaces
from tests.hdl.multiway.stage_bench import FLIGHT, combination
from tests.hdl.stream_bench import plain, run

#: How many stages further the stage of an arrival is: its own, that of the stream after it, that of the one before it.
OWN, FOLLOWING, PREVIOUS = 0, 1, 2
#: How combinations of depth 2 stand in a link.
PAIR = 0b10


class StageBench:
    """Rounds of arrivals that pass; pairs of the two other streams come through the link, as the stage before would.

    In each round as many arrivals pass as may be under way, and all that comes of them is awaited.
    """

    def __init__(self, stage, shape, window, *, keys, seed):
        self.stage, self.shape, self.keys = stage, shape, keys
        self.rng = random.Random(seed)
        self.window = deque(maxlen=window)
        self.expected = {"to_next": [], "o_result": []}
        self.found = {"to_next": [], "o_result": []}
        self.ends = []  # arrivals whose last word goes to the next stage
        self.completed, self.due, self.arrivals = 0, 0, 0
        self._holds = shape.layout.predicate.holds

    def _goes(self, one, other) -> bool:
        return bool(self._holds(SimpleNamespace(**one), SimpleNamespace(**other)))

    def _part(self, one):
        return {name: one[name] for name in self.shape.part.members}

    def _message(self, tuples, number, some, last):
        key = {"key": tuples[0]["key"]} if self.shape.equi else {}
        return {"parts": [self._part(one) for one in tuples], **key, "number": number, "some": some, "last": last}

    def passes(self):
        """An arrival; what is to come of it goes into ``expected``, and its pairs are returned, for the link."""
        rng, number = self.rng, self.arrivals % FLIGHT
        one = {"key": rng.randrange(self.keys), "payload": self.arrivals}
        ahead = rng.choice((OWN, FOLLOWING, PREVIOUS))
        seen = list(self.window)
        self.arrivals += 1
        pairs = []
        if ahead == OWN:
            self.window.append(one)
        elif ahead == PREVIOUS:
            mates = [mate for mate in seen if self._goes(one, mate)]
            self.expected["to_next"] += [self._message([one, mate], number, 1, 0) for mate in mates]
            self.ends.append(self.arrivals - 1)
        else:
            self.due += 1
            for n in range(rng.randrange(3)):
                mate = {"key": one["key"] if self.shape.equi else rng.randrange(self.keys), "payload": 3000 + n}
                pairs.append(self._message([one, mate], number, 1, 0))
                goes = [last for last in seen if self._goes(mate, last) and (self.shape.equi or self._goes(last, one))]
                self.expected["o_result"] += [self._message([one, mate, last], number, 1, 0) for last in goes]
            if pairs:
                pairs[-1]["last"] = 1
            else:
                pairs.append({**self._message([one, one], number, 0, 1)})
        return {"tuple": one, "number": number, "ahead": ahead}, pairs

    async def run(self, ctx, rounds, stall):
        stage, rng = self.stage, self.rng
        link, full = deque(), [0, 0]
        for _ in range(rounds):
            waiting = deque(self.passes() for _ in range(FLIGHT))
            calm = 0
            for _ in range(3000):
                ctx.set(stage.passes, bool(waiting))
                if waiting:
                    arrival, pairs = waiting.popleft()
                    ctx.set(stage.arrival, arrival)
                    link.extend(pairs)
                # Whoever sends hears a cycle late that there is no more room.
                sends = bool(link) and not waiting and not full[0] and rng.random() < 0.7
                ctx.set(stage.from_previous.depth, PAIR if sends else 0)
                if sends:
                    ctx.set(stage.from_previous.message, link.popleft())
                ctx.set(stage.to_next.full, PAIR if rng.random() < stall else 0)
                ctx.set(stage.o_result.ready, rng.random() >= stall)
                _, _, depth, message, valid, ready, result, complete, is_full = await ctx.tick().sample(
                    stage.to_next.depth,
                    stage.to_next.message,
                    stage.o_result.valid,
                    stage.o_result.ready,
                    stage.o_result.p,
                    stage.complete,
                    stage.from_previous.full,
                )
                full = [full[1], is_full & PAIR]
                assert depth in (0, PAIR)
                if depth:
                    self.found["to_next"].append(plain(message))
                if valid and ready:
                    self.found["o_result"].append(plain(result))
                self.completed += complete
                calm = 0 if waiting or link or depth or valid or complete else calm + 1
                if calm > 60:
                    break

    def check(self):
        """All that is due, and nothing twice; and of each arrival one last word, which may be but an end."""
        for name, depth in (("to_next", 2), ("o_result", 3)):
            sides = [[bare(each, depth) for each in side[name] if each["some"]] for side in (self.found, self.expected)]
            assert Counter(sides[0]) == Counter(sides[1])
            assert len(sides[1]) > 20
        assert all(each["some"] for each in self.found["o_result"])
        ends = [each["parts"][0]["payload"] for each in self.found["to_next"] if each["last"]]
        assert ends == self.ends, "in the order of arrivals"
        assert self.completed == self.due


def bare(message, depth):
    """A message without its ``last``, which hangs on the order of what is found."""
    parts = tuple(tuple(sorted(part.items())) for part in message["parts"][:depth])
    return parts, message["number"], message.get("key")


@pytest.mark.parametrize("stall", [0.0, 0.6])
@pytest.mark.parametrize(
    ("predicate", "window", "lanes", "buckets"), [("equi", 5, 2, None), ("band:1", 4, 3, None), ("equi", 7, 1, 4)]
)
def test_all_that_is_due_of_every_arrival(predicate, window, lanes, buckets, stall):
    shape = combination(predicate)
    places = WindowPlaces(window, FLIGHT, lanes)
    stage = RingStage(shape, places, after=True, before=True, buckets=buckets, buffer=2, queue=2)
    bench = StageBench(stage, shape, window, keys=3, seed=window)

    async def rounds(ctx):
        await ctx.tick().repeat(buckets or 1)
        await bench.run(ctx, 12, stall)
        assert not ctx.get(stage.busy)

    run(stage, rounds)
    bench.check()


def test_arrivals_pass_on_a_cycle_later_one_stage_further():
    shape, seen = combination("equi"), []
    stage = RingStage(shape, WindowPlaces(4, FLIGHT, 2), after=True, before=True, buffer=2, queue=2)
    arrivals = [(1, OWN), (0, FOLLOWING), (1, PREVIOUS), (1, FOLLOWING), (0, OWN)]

    async def bench(ctx):
        for n, (passes, ahead) in enumerate(arrivals):
            ctx.set(stage.passes, passes)
            ctx.set(stage.arrival, {"tuple": {"key": n, "payload": 9 * n}, "number": n, "ahead": ahead})
            _, _, on, arrival = await ctx.tick().sample(stage.passes_on, stage.arrival_on)
            seen.append((on, plain(arrival) if on else None))

    run(stage, bench)
    further = {OWN: PREVIOUS, FOLLOWING: OWN, PREVIOUS: FOLLOWING}
    assert seen[1:] == [
        (on, {"tuple": {"key": n, "payload": 9 * n}, "number": n, "ahead": further[ahead]} if on else None)
        for n, (on, ahead) in enumerate(arrivals[:-1])
    ]


def test_what_is_thrown_away_is_counted_and_its_arrival_is_complete_all_the_same():
    """Pairs come faster than they are compared: those beyond ``discard`` are lost, but for the ends of arrivals."""
    shape = combination("equi")
    stage = RingStage(shape, WindowPlaces(12, FLIGHT, 1), after=True, before=True, buffer=4, queue=2, discard=2)
    results, complete, lost = [], 0, 0

    async def bench(ctx):
        nonlocal complete, lost
        ctx.set(stage.lost, 1000)
        for n in range(12):
            ctx.set(stage.passes, 1)
            ctx.set(stage.arrival, {"tuple": {"key": 1, "payload": n}, "number": 0, "ahead": OWN})
            await ctx.tick()
        ctx.set(stage.arrival, {"tuple": {"key": 1, "payload": 99}, "number": 1, "ahead": FOLLOWING})
        await ctx.tick()
        ctx.set(stage.passes, 0)
        ctx.set(stage.o_result.ready, 1)
        for cycle in range(400):
            parts = [{"payload": 99}, {"payload": cycle}]
            ctx.set(stage.from_previous.depth, PAIR if cycle < 10 else 0)
            message = {"parts": parts, "key": 1, "number": 1, "some": 1, "last": int(cycle == 9)}
            ctx.set(stage.from_previous.message, message)
            _, _, valid, result, ended = await ctx.tick().sample(stage.o_result.valid, stage.o_result.p, stage.complete)
            if valid:
                results.append((result.parts[1].payload, result.parts[2].payload))
            complete += ended
        lost = ctx.get(stage.lost_on) - 1000

    run(stage, bench)
    pairs = Counter(pair for pair, _ in results)
    assert set(pairs.values()) == {12}, "a pair that is not thrown away meets the whole window"
    assert len(set(results)) == len(results)
    assert lost == 10 - len(pairs) > 0
    assert complete == 1
