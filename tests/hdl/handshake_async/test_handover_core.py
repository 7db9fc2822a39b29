"""A core of the asynchronous handshake join: pairs that meet, tuples handed on, and what is acknowledged."""

import random
from collections import Counter, deque
from types import SimpleNamespace

import pytest

from streamjoin.hdl.handshake_async.handover_core import HandoverCore
from tests.hdl.handshake_async.handovers import PREDICATE, handover
from tests.hdl.stream_bench import plain, run


def holds(r, s):
    return bool(PREDICATE.holds(SimpleNamespace(**r), SimpleNamespace(**s)))


def tuples(rng, first, count):
    return [{"key": rng.randrange(16), "payload": first + n} for n in range(count)]


class Neighbour:
    """One side of a core: messages go in while there is room, and what comes out is noted."""

    def __init__(self, into, out):
        self.into, self.out, self.messages, self.noted = into, out, deque(), []
        self._room = 0

    def drive(self, ctx, sends=True):
        # Room is heard of a cycle late, as by a neighbour that has its register in between.
        goes = bool(self.messages) and self._room and sends
        ctx.set(self.into.valid, goes)
        if goes:
            ctx.set(self.into.message, self.messages.popleft())

    @property
    def watched(self):
        return self.into.room, self.out.valid, self.out.message

    def note(self, room, valid, message):
        self._room = room
        if valid:
            self.noted.append(plain(message))


def message(one=None, *, removes=0):
    return {"enters": int(one is not None), "removes": removes, "tuple": one or {"key": 0, "payload": 0}}


def core_and_sides(*, cores, first, last, shared=True, lanes=2, windows=(6, 6)):
    core = HandoverCore(
        handover(cores=cores, lanes=lanes, windows=windows), first=first, last=last, shared=shared, queue=2
    )
    return core, Neighbour(core.from_left, core.to_right), Neighbour(core.from_right, core.to_left)


async def step(ctx, core, left, right, out, *, ready=1, sends=True):
    left.drive(ctx, sends)
    right.drive(ctx, sends)
    ctx.set(core.o_result.ready, ready)
    port = core.o_result
    _, _, *seen, valid, taken, item = await ctx.tick().sample(
        *left.watched, *right.watched, port.valid, port.ready, port.p
    )
    left.note(*seen[:3])
    right.note(*seen[3:])
    if valid and taken:
        out.append((item.payload_r, item.payload_s))


@pytest.mark.parametrize(("shared", "lanes", "stall"), [(True, 1, 0.0), (True, 2, 0.7), (False, 3, 0.5)])
def test_all_that_rests_meets_all_that_comes_once(shared, lanes, stall):
    """However messages of both sides are interleaved: of two tuples the one that is handled later meets the other."""
    rng = random.Random(lanes)
    core, left, right = core_and_sides(cores=1, first=True, last=True, shared=shared, lanes=lanes)
    of_r, of_s, out = tuples(rng, 0, 6), tuples(rng, 100, 6), []
    left.messages.extend(map(message, of_r))
    right.messages.extend(map(message, of_s))

    async def bench(ctx):
        for _ in range(300):
            await step(ctx, core, left, right, out, ready=rng.random() >= stall, sends=rng.random() < 0.5)

    run(core, bench)
    assert Counter(out) == Counter((r["payload"], s["payload"]) for r in of_r for s in of_s if holds(r, s))
    assert left.noted == [message(removes=1)] * 6, "each of S is acknowledged; of R nothing is handed on"
    assert right.noted == [], "nor of S"


def test_what_has_gone_meets_nobody():
    """Messages one by one: R enters before a tuple of S goes, and a tuple of R goes before S enters."""
    rng = random.Random(5)
    core, left, right = core_and_sides(cores=1, first=True, last=True)
    windows, expected, out = {"r": [], "s": []}, [], []

    async def bench(ctx):
        for n in range(60):
            enters, removes = rng.random() < 0.8, rng.random() < 0.4
            one = {"key": rng.randrange(16), "payload": n}
            from_left = rng.random() < 0.5
            mine, other = ("r", "s") if from_left else ("s", "r")
            removes = (removes and len(windows[other]) > 0) or len(windows[other]) == 6
            enters = enters and len(windows[mine]) < 6
            if removes and not from_left:
                windows["r"].pop(0)
            if enters:
                mates = windows[other]
                pairs = [(one, mate) if from_left else (mate, one) for mate in mates]
                expected.extend((r["payload"], s["payload"]) for r, s in pairs if holds(r, s))
                windows[mine].append(one)
            if removes and from_left:
                windows["s"].pop(0)
            if enters or removes:
                (left if from_left else right).messages.append(message(one if enters else None, removes=removes))
            for _ in range(30):
                await step(ctx, core, left, right, out)
            assert ctx.get(core.busy) == bool(windows["r"])

    run(core, bench)
    assert len(expected) > 30
    assert Counter(out) == Counter(expected)


@pytest.mark.parametrize("load", [0, 9])
def test_tuples_are_handed_on_in_order_to_neighbours_that_have_fewer(load):
    """Each tuple of S that came is acknowledged to the right; those sent to the left stay until they are, too."""
    rng = random.Random(load)
    core, left, right = core_and_sides(cores=3, first=False, last=False, windows=(12, 12))
    of_r, of_s, out = tuples(rng, 0, 5), tuples(rng, 100, 5), []
    left.messages.extend(map(message, of_r))
    right.messages.extend(map(message, of_s))

    async def bench(ctx):
        for channel in (core.to_right, core.to_left):
            ctx.set(channel.room, 1)
            ctx.set(channel.load, load)
        for cycle in range(400):
            before = len(right.noted)
            await step(ctx, core, left, right, out, sends=rng.random() < 0.5)
            for handed_on in right.noted[before:]:
                assert handed_on["enters"]
                # The neighbour on the left acknowledges some cycles later.
                if cycle < 300:
                    left.messages.append(message(removes=1))

    run(core, bench)
    gone = [each["tuple"] for each in left.noted if each["enters"]]
    assert sum(each["removes"] for each in left.noted) == len(of_s), "each of S is acknowledged once"
    assert gone == (of_r if load == 0 else [])
    assert [each["tuple"] for each in right.noted if each["enters"]] == (of_s if load == 0 else [])
    pairs = Counter((r["payload"], s["payload"]) for r in of_r for s in of_s if holds(r, s))
    if load:
        assert Counter(out) == pairs, "all of them stay, so all meet"
    else:
        assert Counter(out) <= pairs, "some may meet elsewhere, but none twice"
