"""A core of the low-latency join: pairs that meet, messages handed on, and tuples that fly until acknowledged."""

import random
from collections import Counter, deque
from types import SimpleNamespace

import pytest

from streamjoin.hdl.llhj.expedition_core import ExpeditionCore
from tests.hdl.llhj.expeditions import expedition
from tests.hdl.stream_bench import plain, run

FLIGHT, WINDOW = 2, 6


def tuples(rng, first, count):
    return [{"key": rng.randrange(16), "payload": first + n} for n in range(count)]


def holds(join, r, s):
    return bool(join.layout.predicate.holds(SimpleNamespace(**r), SimpleNamespace(**s)))


class Bench:
    """A core with both neighbours: messages in while there is room, and what comes out, each as plain Python."""

    def __init__(self, join, *, last, shared=True):
        self.join = join
        self.core = ExpeditionCore(join, last=last, shared=shared, link_queue=2, jobs=2, flight=FLIGHT, queue=2)
        self.left, self.right, self.to_right, self.to_left, self.pairs = deque(), deque(), [], [], []
        self._rooms, self._heard = [(1, 1)] * 2, [(0, 0)] * 2

    def message(self, one, *, leftward, hops=0, fresh=1, expired=0):
        """A tuple on its way. Marks are counts of tuples, for the only core of a chain."""
        side = "r" if leftward else "s"
        mark = {"place": self.join.rings[side].nth(expired), "hops": int(leftward)}
        common = {"valid": 1, "fresh": fresh, "hops": hops, "arrives": int(hops == 0), "tuple": one}
        common |= {"expired": mark, "told": 0}
        return {**common, "ended": mark} if leftward else {**common, "acknowledges": 0}

    def acknowledgement(self):
        nobody = {"key": 0, "payload": 0}
        return {**self.message(nobody, leftward=False), "valid": 0, "fresh": 0, "acknowledges": 1}

    async def step(self, ctx, *, ready=1, room=(1, 1)):
        core = self.core
        # What a sender hears of room is two cycles old when its message is there.
        for into, waiting, heard in zip(
            (core.from_left, core.from_right), (self.left, self.right), self._heard[-2], strict=True
        ):
            ctx.set(into.valid, bool(waiting) and heard)
            if waiting and heard:
                ctx.set(into.message, waiting.popleft())
        ctx.set(core.to_right.room, room[0])
        ctx.set(core.to_left.room, room[1])
        ctx.set(core.o_result.ready, ready)
        port = core.o_result
        _, _, onward, message, backward, other, *heard, valid, taken, item = await ctx.tick().sample(
            core.to_right.valid,
            core.to_right.message,
            core.to_left.valid,
            core.to_left.message,
            core.from_left.room,
            core.from_right.room,
            port.valid,
            port.ready,
            port.p,
        )
        if onward:
            assert self._rooms[-2][0], "there was no room on the right"
            self.to_right.append(plain(message))
        if backward:
            assert self._rooms[-2][1], "there was no room on the left"
            self.to_left.append(plain(other))
        self._rooms.append(room)
        self._heard.append(tuple(heard))
        if valid and taken:
            self.pairs.append((item.payload_r, item.payload_s))


@pytest.mark.parametrize(
    ("shared", "lanes", "buckets", "stall"), [(True, 1, None, 0.0), (False, 3, None, 0.6), (True, 1, 4, 0.4)]
)
def test_all_that_rests_meets_all_that_comes_once(shared, lanes, buckets, stall):
    """However messages of both sides are interleaved: of two tuples the one that is handled later meets the other."""
    rng = random.Random(lanes)
    join = expedition("lt" if buckets is None else "equi", lanes=lanes, buckets=buckets)
    bench = Bench(join, last=True, shared=shared)
    of_r, of_s = tuples(rng, 0, WINDOW), tuples(rng, 100, WINDOW)
    of_s[:3] = [{**s, "key": r["key"]} for r, s in zip(of_r, of_s[:3], strict=False)]
    bench.left.extend(bench.message(one, leftward=False) for one in of_r)
    bench.right.extend(bench.message(one, leftward=True) for one in of_s)

    async def steps(ctx):
        await ctx.tick().repeat(1 + (buckets or 0))
        for _ in range(400):
            room = (int(rng.random() >= stall), int(rng.random() >= stall))
            await bench.step(ctx, ready=rng.random() >= stall, room=room)
        assert not ctx.get(bench.core.busy)

    run(bench.core, steps)
    expected = Counter((r["payload"], s["payload"]) for r in of_r for s in of_s if holds(join, r, s))
    assert len(expected) > 2
    assert Counter(bench.pairs) == expected
    assert [each["tuple"] for each in bench.to_right] == of_r
    assert [each["tuple"] for each in bench.to_left] == of_s
    assert {(each["valid"], each["fresh"]) for each in bench.to_right + bench.to_left} == {(1, 0)}, "they are at home"


def test_what_has_expired_meets_nobody():
    """Messages one by one; each says how many of the other stream have expired."""
    rng, join = random.Random(3), expedition(lanes=2)
    bench, expected = Bench(join, last=True), []
    windows, expired = {"r": deque(), "s": deque()}, {"r": 0, "s": 0}

    async def steps(ctx):
        for n in range(60):
            side, other = rng.choice(("rs", "sr"))
            one = {"key": rng.randrange(16), "payload": n}
            if len(windows[side]) == WINDOW:
                windows[side].popleft()
                expired[side] += 1
            pairs = [(one, mate) if side == "r" else (mate, one) for mate in windows[other]]
            expected.extend((r["payload"], s["payload"]) for r, s in pairs if holds(join, r, s))
            windows[side].append(one)
            message = bench.message(one, leftward=side == "s", expired=expired[other])
            (bench.left if side == "r" else bench.right).append(message)
            for _ in range(30):
                await bench.step(ctx)

    run(bench.core, steps)
    assert min(expired.values()) > 10
    assert Counter(bench.pairs) == Counter(expected)


def test_messages_come_closer_to_home_with_each_core():
    rng, join = random.Random(4), expedition(cores=4, windows=(24, 24))
    bench = Bench(join, last=False)
    hops = [3, 2, 1, 0, 3, 1]
    of_r, of_s = tuples(rng, 0, 6), tuples(rng, 100, 6)
    for r, s, far in zip(of_r, of_s, hops, strict=True):
        bench.left.append(bench.message(r, leftward=False, hops=far))
        bench.right.append(bench.message(s, leftward=True, hops=far))

    async def steps(ctx):
        acknowledged = 0
        for _ in range(200):
            await bench.step(ctx)
            # The neighbour on the left acknowledges what is still fresh.
            fresh = sum(each["fresh"] for each in bench.to_left)
            bench.left.extend(bench.acknowledgement() for _ in range(fresh - acknowledged))
            acknowledged = fresh

    run(bench.core, steps)
    onward = [each for each in bench.to_right if not each["acknowledges"]]
    closer = [(max(0, far - 1), int(far <= 1), int(far > 0)) for far in hops]
    for messages, given in ((onward, of_r), (bench.to_left, of_s)):
        assert [each["tuple"] for each in messages] == given
        assert [(each["hops"], each["arrives"], each["fresh"]) for each in messages] == closer
        assert all(each["valid"] for each in messages)
    assert sum(each["acknowledges"] for each in bench.to_right) == len(of_s), "whoever sent S hears of each"


def test_no_more_fly_than_may():
    """Fresh tuples of S wait while as many fly as there are places, until one has landed."""
    rng, join = random.Random(5), expedition(cores=4, windows=(24, 24))
    bench, gone = Bench(join, last=False), []
    bench.right.extend(bench.message(one, leftward=True, hops=3) for one in tuples(rng, 0, 5))

    async def steps(ctx):
        for _ in range(4):
            for _ in range(40):
                await bench.step(ctx)
            gone.append(len(bench.to_left))
            bench.left.append(bench.acknowledgement())

    run(bench.core, steps)
    assert gone == [FLIGHT, FLIGHT + 1, FLIGHT + 2, FLIGHT + 3]
