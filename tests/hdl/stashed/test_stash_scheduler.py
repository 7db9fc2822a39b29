"""The scheduler of the first stage: which arrival, which rows, and who waits for whom."""

import random
from collections import deque

import pytest

from streamjoin.hdl.stashed.stash_scheduler import StashScheduler
from streamjoin.hdl.stashed.stash_shape import ANEW, ONE, STASHED, TWO
from tests.hdl.multiway.walked_rows import rows_of, view_of
from tests.hdl.stashed.stash_shapes import shape
from tests.hdl.stream_bench import plain, run

#: The source that each kind of work walks along: the window of S1, that of S2, the stash.
SOURCE = {TWO: 0, ONE: 1, ANEW: 1, STASHED: 2}
AWAITING = 4


class Surroundings:
    """All that the scheduler has to do with: windows that change, matches that are picked late, and deeper scans."""

    def __init__(self, kind, rng):
        self.kind, self.rng = kind, rng
        stash = [kind.stash_places] if kind.room else []
        self.places = [*kind.places, *stash]
        self.taken, self.rows, self.ended = [], [[], []], [0, 0]
        self.expected, self.empties = [[], []], [0, 0]
        self.awaited, self.at_work, self.deep, self.deep_sent = 0, False, deque(), 0

    def views(self):
        counts = [self.rng.choice((0, self.rng.randint(1, places.window))) for places in self.places]
        return [
            view_of(places, self.rng.randrange(places.rows * places.lanes), count)
            for places, count in zip(self.places, counts, strict=True)
        ], [int(count == 0) for count in counts]

    def walk(self, line, source, view, empty, keys, is_one):
        """What is to be shown on a line."""
        if empty:
            self.empties[line] += 1
            return
        for row in rows_of(self.places[source], view):
            self.expected[line].append((1 << source, row, {"keys": {"key": keys}, "is_one": is_one}))


@pytest.mark.parametrize(("lanes", "room"), [(1, 6), (2, 6), (3, 0)])
def test_work_is_taken_up_in_order_and_walks_along_what_it_is_compared_with(lanes, room):
    rng = random.Random(lanes)
    kind = shape(lanes=lanes, room=room)
    dut, around = StashScheduler(kind, awaiting=AWAITING), Surroundings(kind, rng)
    jobs = [
        {"message": {"parts": [{"payload": n}], "key": n % 16, "number": n % 8, "some": 1, "last": 1}, "stream": stream}
        for n, stream in enumerate(rng.choices((0, 1, 2), k=60))
    ]

    async def bench(ctx):
        waiting = deque(jobs)
        for cycle in range(6000):
            views, empty = around.views()
            for n, view in enumerate(views):
                ctx.set(getattr(dut, f"view{n}"), view)
            ctx.set(dut.empty, sum(bit << n for n, bit in enumerate(empty)))
            position = {"one": rng.randrange(16), "two": rng.randrange(16)}
            ctx.set(dut.next, position)
            answers, quiet = int(room and rng.random() < 0.7), int(rng.random() < 0.5)
            ctx.set(dut.answers, answers)
            ctx.set(dut.quiet, quiet)
            pause = rng.choice((0, 0, 0, 1, 2, 3))
            ctx.set(dut.pause, pause)
            # Hits of an arrival are all picked some time after it was taken up.
            done = int(around.awaited > 0 and rng.random() < 0.1)
            ctx.set(dut.done, done)
            # What a scan anew finds comes to be compared once more; then it is complete.
            complete = around.at_work and around.deep_sent >= 2 and not around.deep and rng.random() < 0.1
            ctx.set(dut.complete, complete)
            if around.at_work and around.deep_sent < 2 and not around.deep and rng.random() < 0.3:
                key = rng.randrange(16)
                around.deep.append({"parts": [{"payload": 1}] * 2, "key": key, "number": 0, "some": 1, "last": 1})
            ctx.set(dut.deep.valid, bool(around.deep))
            if around.deep:
                ctx.set(dut.deep.p, around.deep[0])
            ctx.set(dut.jobs.valid, bool(waiting))
            if waiting:
                ctx.set(dut.jobs.p, waiting[0])
            ctx.set(dut.probes.ready, around.awaited < AWAITING)
            ctx.set(dut.deep_probes.ready, 1)
            names = ["stores", "begins", "shows", "ends", "row", "source", "probe"]
            streams = [dut.jobs.ready, dut.probes.valid, dut.probes.p, dut.deep.ready, dut.deep_probes.valid]
            _, _, taken, given, probe, deep_taken, deep_given, *told = await ctx.tick().sample(
                *streams, *(getattr(dut, name) for name in names)
            )
            stores, begins, shows, ends, row, source, compared = (plain(each) for each in told)
            assert not shows & pause
            assert not ends & pause
            assert shows in (0, 1, 2), "one row in a cycle"
            for line in (0, 1):
                if shows >> line & 1:
                    around.rows[line].append((source, row, compared))
                around.ended[line] += ends >> line & 1
            assert taken == given
            assert deep_taken == deep_given
            if deep_taken:
                message = around.deep.popleft()
                around.deep_sent += 1
                around.walk(1, 0, views[0], empty[0], message["key"], 0)
            if taken:
                job = waiting.popleft()
                work = [ONE, TWO, STASHED if answers else ANEW][job["stream"]]
                assert not around.at_work, "a scan anew is at work"
                if job["stream"] == 2:
                    assert quiet, "what was picked has not come to rest"
                    assert not around.awaited, "not all before it are done"
                assert plain(probe) == {
                    "message": job["message"],
                    "kind": work,
                    "position": position["one" if work == ONE else "two"],
                }
                along = SOURCE[work]
                around.walk(0, along, views[along], empty[along], job["message"]["key"], int(work == ONE))
                around.taken.append(work)
                if work == ANEW:
                    around.at_work, around.deep_sent = True, 0
            around.awaited += taken - done
            if complete:
                around.at_work = False
            assert stores == ({0: 1, 1: 2}.get(job["stream"], 0) if taken else 0)
            assert begins == (taken and around.taken[-1] == STASHED)
            if not waiting and not around.awaited and not around.at_work and cycle > 100:
                return
        raise AssertionError("not all work was taken up")

    run(dut, bench)
    kinds = {ONE, TWO, ANEW, STASHED} if room else {ONE, TWO, ANEW}
    assert set(around.taken) == kinds
    assert around.ended == around.empties
    assert around.rows == around.expected
