"""What rests of one stream at a core: jobs in order, scans of what counts then and of what flies, and punctuations."""

import random
from collections import deque

import pytest

from streamjoin.hdl.llhj.window_worker import ExpeditionWorker
from tests.hdl.llhj.expeditions import expedition
from tests.hdl.stream_bench import run

FLIGHT, WINDOW = 2, 6


class Resting:
    """The worker in plain Python: all that was ever stored, how many of these have expired, and what flies."""

    def __init__(self, rng, ring, side, numbered):
        self._rng, self._ring, self.side, self._numbered = rng, ring, side, numbered
        self.stored, self.first, self.flying = [], 0, deque()
        self.expected, self.number = [], 0

    def draw(self, may_punctuate):
        """The next job; what its scan is to show goes into ``expected``, in the order of jobs."""
        rng, self.number = self._rng, self.number + 1
        one = {"key": rng.randrange(4), "payload": self.number, **({"order": self.number} if self._numbered else {})}
        job = dict.fromkeys(("probes", "rests", "fly", "land"), 0)
        kind = rng.choice(("probes", "probes", "rests", "fly", "land", "punctuates"))
        if kind == "rests" and len(self.stored) - self.first < WINDOW:
            job["rests"] = 1
            self.stored.append(one)
        elif kind == "fly" and self.side == "s" and len(self.flying) < FLIGHT:
            job["fly"] = 1
            self.flying.append(one)
        elif kind == "land" and self.flying:
            job["land"] = 1
            self.flying.popleft()
        elif kind == "punctuates" and may_punctuate:
            job["punctuates"] = 1
            self.expected.append(("mark", self.number))
        else:
            job["probes"] = 1
            self.first = rng.randint(self.first, len(self.stored))
        end = len(self.stored)
        if job["probes"]:
            if self.side == "r":
                end = rng.randint(self.first, end)
            seen = [*self.flying, *self.stored[self.first : end]]
            self.expected.append((one, seen))
        job["needs_store"] = int(job["probes"] or job["rests"] or job.get("punctuates", 0))
        if self._numbered:
            job.setdefault("punctuates", 0)
        return {**job, "tuple": one, "first": self._ring.nth(self.first), "end": self._ring.nth(end)}


@pytest.mark.parametrize("side", ["r", "s"])
@pytest.mark.parametrize(
    ("lanes", "buckets", "numbered", "going"),
    [(1, None, False, 1.0), (2, None, True, 0.5), (3, None, True, 1.0), (1, 2, True, 0.5)],
)
def test_jobs_are_done_in_order(side, lanes, buckets, numbered, going):
    rng = random.Random(lanes)
    join = expedition("equi", lanes=lanes, windows=(WINDOW, WINDOW), buckets=buckets, numbered=numbered)
    worker = ExpeditionWorker(join, side, flight=FLIGHT, jobs=2)
    model = Resting(rng, join.rings[side], side, numbered)
    events = []

    async def bench(ctx):
        await ctx.tick().repeat(1 + (buckets or 0))
        room, under_way = 0, 0
        for cycle in range(1000):
            pushes = room and cycle < 800
            if pushes:
                job = model.draw(numbered and not under_way)
                under_way = under_way or job.get("punctuates", 0)
                ctx.set(worker.job, job)
            ctx.set(worker.push, pushes)
            ctx.set(worker.scan.go, rng.random() < going)
            marks = [worker.scan.mark, worker.scan.mark_order] if numbered else []
            _, _, room, mask, probe, *rest = await ctx.tick().sample(
                worker.room, worker.scan.mask, worker.scan.probe, *worker.scan.resting, *marks
            )
            shown = [rest[lane] for lane in range(lanes) if mask >> lane & 1]
            # An index may show others, too, whose keys differ.
            events.extend((probe.payload, one.payload) for one in shown if buckets is None or one.key == probe.key)
            if numbered and rest[lanes]:
                events.append(("mark", rest[lanes + 1]))
                under_way = 0
        assert not ctx.get(worker.busy)

    run(worker, bench)
    check(model, events, buckets)


def check(model, events, buckets):
    probes = [what for what in model.expected if what[0] != "mark"]
    assert len(probes) > 30
    shown = {}
    for probe, what in events:
        shown.setdefault(probe, []).append(what)
    for one, seen in probes:
        wanted = [each["payload"] for each in seen if buckets is None or each["key"] == one["key"]]
        assert sorted(shown.get(one["payload"], [])) == sorted(wanted)
    assert [event for event in events if event[0] == "mark"] == [what for what in model.expected if what[0] == "mark"]
    # All that was asked for before a punctuation is shown before it, and jobs are done in their order.
    order = [what if probe == "mark" else probe for probe, what in events]
    assert order == sorted(order)


def test_what_needs_no_store_does_not_wait_for_a_scan():
    """While a scan is held up, tuples fly and land, a job in a cycle."""
    join = expedition(lanes=1, windows=(WINDOW, WINDOW))
    worker, rooms = ExpeditionWorker(join, "s", flight=FLIGHT, jobs=2), []
    idle = {**dict.fromkeys(("probes", "rests", "needs_store", "fly", "land"), 0), "tuple": {"key": 1, "payload": 1}}
    idle |= {"first": join.rings["s"].nth(0), "end": join.rings["s"].nth(0)}
    begin = [{**idle, "rests": 1, "needs_store": 1}, {**idle, "probes": 1, "needs_store": 1}]

    async def bench(ctx):
        for job in begin + [{**idle, "fly": 1}, {**idle, "land": 1}] * 6:
            ctx.set(worker.job, job)
            ctx.set(worker.push, 1)
            await ctx.tick()
            ctx.set(worker.push, 0)
            rooms.append(ctx.get(worker.room))
            await ctx.tick()
        assert ctx.get(worker.scan.wants)

    run(worker, bench)
    assert rooms == [1] * len(rooms)
