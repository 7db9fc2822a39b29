"""The first stage of a stashed join: pairs for the second stage, results with S3, and when an arrival is complete."""

import random
from collections import Counter, deque
from types import SimpleNamespace

import pytest
from amaranth.hdl import Signal

from streamjoin.hdl.stashed.stash_stage import StashStage
from tests.hdl.stashed.stash_shapes import FLIGHT, combination
from tests.hdl.stream_bench import plain, run

S1, S2, S3 = range(3)
#: How a pair stands in the link to the second stage.
PAIR = 0b10


class Reference:
    """Both windows as deques, and all that comes of each arrival at the moment when it arrives."""

    def __init__(self, shape, windows):
        self._holds, self._span = shape.layout.predicate.holds, shape.span
        self.windows = [deque(maxlen=window) for window in windows]
        self.pairs, self.results = [], []

    def _goes(self, earlier, later):
        return bool(self._holds(SimpleNamespace(**earlier), SimpleNamespace(**later)))

    def _live(self, one, other):
        return self._span is None or one["time"] - other["time"] < self._span

    def arrive(self, stream, one):
        first, second = self.windows
        if stream == S1:
            self.pairs += [(one, two) for two in second if self._goes(one, two) and self._live(one, two)]
            first.append(one)
        elif stream == S2:
            self.pairs += [(other, one) for other in first if self._goes(other, one) and self._live(one, other)]
            second.append(one)
        else:
            for two in second:
                if self._goes(two, one) and self._live(one, two):
                    goes = [other for other in first if self._goes(other, two) and self._live(one, other)]
                    self.results += [(other, two, one) for other in goes]


@pytest.mark.parametrize(
    ("predicate", "span", "windows", "lanes", "room", "stall"),
    [
        ("equi", None, (5, 7), 2, 40, 0.0),  # a stash that holds them all
        ("equi", None, (6, 4), 1, 3, 0.5),  # one that does not: S3 is compared anew
        ("band:1", 9, (4, 5), 3, 12, 0.6),
        ("le", None, (3, 4), 2, 0, 0.6),  # no stash at all
    ],
)
def test_all_that_is_due_of_every_arrival(predicate, span, windows, lanes, room, stall):
    """Round after round of as many arrivals as may be under way, with a second stage and an output that stall.

    After some rounds the stage is reset in the midst of one, and begins anew.
    """
    rng, shape = random.Random(room + lanes), combination(predicate, span)
    stage = StashStage(shape, windows, lanes=lanes, room=room, spare_bits=1, buffer=2, queue=2)
    stage.reset = Signal()
    reference = Reference(shape, windows)
    pairs, results, ends, complete, streams = [], [], [], 0, []
    timed = span is not None

    def arrival():
        n = len(streams)
        stream, one = (
            rng.choice((S1, S2, S3)),
            {"key": rng.randrange(3), "payload": n, **({"time": n // 2} if timed else {})},
        )
        streams.append(stream)
        reference.arrive(stream, one)
        return {"tuple": one, "number": n % FLIGHT, "ahead": stream}

    async def bench(ctx):
        nonlocal complete
        for n in range(9):
            if n == 3:
                await reset_in_mid_work(ctx, stage)
                reference.windows = [deque(maxlen=window) for window in windows]
            waiting, calm = deque(arrival() for _ in range(FLIGHT)), 0
            for _ in range(5000):
                ctx.set(stage.passes, bool(waiting))
                if waiting:
                    ctx.set(stage.arrival, waiting.popleft())
                ctx.set(stage.to_next.full, PAIR if rng.random() < stall else 0)
                ctx.set(stage.o_result.ready, rng.random() >= stall)
                _, _, depth, message, valid, ready, result, ended = await ctx.tick().sample(
                    stage.to_next.depth,
                    stage.to_next.message,
                    stage.o_result.valid,
                    stage.o_result.ready,
                    stage.o_result.p,
                    stage.complete,
                )
                assert depth in (0, PAIR)
                if depth:
                    if message.some:
                        pairs.append(payloads(message, 2))
                    if message.last:
                        ends.append(message.number)
                if valid and ready:
                    assert result.some
                    results.append(payloads(result, 3))
                complete += ended
                calm = 0 if waiting or depth or valid or ended else calm + 1
                if calm > 80:
                    break
        assert not ctx.get(stage.busy)

    run(stage, bench)
    assert Counter(pairs) == Counter(tuple(one["payload"] for one in pair) for pair in reference.pairs)
    assert Counter(results) == Counter(tuple(one["payload"] for one in each) for each in reference.results)
    assert min(len(pairs), len(results)) > 20
    assert ends == [n % FLIGHT for n, stream in enumerate(streams) if stream != S3], "one last word of each, in order"
    assert complete == streams.count(S3)


async def reset_in_mid_work(ctx, stage):
    for n in range(FLIGHT):
        arrival = {"tuple": {"key": 1, "payload": 1000 + n}, "number": n, "ahead": (S1, S2, S3)[n % 3]}
        ctx.set(stage.passes, 1)
        ctx.set(stage.arrival, arrival)
        await ctx.tick()
    ctx.set(stage.passes, 0)
    ctx.set(stage.reset, 1)
    await ctx.tick()
    ctx.set(stage.reset, 0)


def payloads(message, depth):
    return tuple(part["payload"] for part in plain(message)["parts"][:depth])


def test_arrivals_pass_on_a_cycle_later_two_streams_further():
    shape, seen = combination(), []
    stage = StashStage(shape, (4, 4), lanes=1, room=4, spare_bits=1, buffer=2, queue=2)
    arrivals = [(1, S1), (0, S2), (1, S3), (1, S2), (0, S1)]

    async def bench(ctx):
        for n, (passes, ahead) in enumerate(arrivals):
            ctx.set(stage.passes, passes)
            ctx.set(stage.arrival, {"tuple": {"key": n, "payload": 9 * n}, "number": n, "ahead": ahead})
            _, _, on, arrival = await ctx.tick().sample(stage.passes_on, stage.arrival_on)
            seen.append((on, plain(arrival) if on else None))

    run(stage, bench)
    # At the stage of S3 its own are 0 ahead, those of S1 one and those of S2 two.
    further = {S1: 1, S2: 2, S3: 0}
    assert seen[1:] == [
        (on, {"tuple": {"key": n, "payload": 9 * n}, "number": n, "ahead": further[ahead]} if on else None)
        for n, (on, ahead) in enumerate(arrivals[:-1])
    ]
