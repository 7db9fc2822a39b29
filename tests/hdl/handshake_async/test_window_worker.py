"""What rests of one stream at a core: jobs in order, scans of what rested then, the oldest offered to be sent on."""

import random
from collections import deque

import pytest

from streamjoin.hdl.handshake_async.window_worker import HandoverWorker
from tests.hdl.handshake_async.handovers import handover
from tests.hdl.stream_bench import plain, run

FLIGHT = 2


class Resting:
    """The worker in plain Python: what rests, the oldest first, and how many of the first of these were sent on."""

    def __init__(self, side, end):
        self.side, self.end = side, end
        self.here, self.sent = [], 0

    def work(self, job):
        """Returns what a scan for this job shows, if it scans."""
        if job["removes"] and self.side == "r":
            self._remove()
        seen = list(self.here) if job["probes"] else None
        if job["removes"] and self.side == "s":
            self._remove()
        if job["rests"]:
            self.here.append(job["tuple"])
        return seen

    def _remove(self):
        self.here.pop(0)
        self.sent -= self.side == "s" and not self.end

    def unsent(self):
        return self.here[self.sent :]

    def send(self):
        if self.side == "r":
            self.here.pop(0)
        else:
            self.sent += 1


def draw(rng, number, held, removable):
    """The next job: a tuple that comes to rest, one that scans, or word that the oldest goes, or both of these."""
    one = {"key": rng.randrange(16), "payload": number}
    job = {"probes": 0, "rests": 0, "removes": 0, "tuple": one}
    if held < 6 and rng.random() < 0.5:
        job["rests"] = 1
    else:
        job["removes"] = int(removable and rng.random() < 0.6)
        job["probes"] = int(not job["removes"] or rng.random() < 0.5)
    return {**job, "needs_store": int(job["probes"] or job["rests"])}


@pytest.mark.parametrize(("side", "end"), [("r", False), ("r", True), ("s", False), ("s", True)])
@pytest.mark.parametrize(("lanes", "going"), [(1, 1.0), (3, 0.4)])
def test_jobs_are_done_in_order(side, end, lanes, going):
    rng, model = random.Random(lanes), Resting(side, end)
    worker = HandoverWorker(handover(lanes=lanes, flight=FLIGHT), side, end=end)
    expected, shown = [], []

    async def bench(ctx):
        number, held, away, jobs, room, sends = 0, 0, 0, deque(), 0, 0
        for cycle in range(900):
            # ``held``: that rest, or will; ``away``: that were sent on and are still here, and not to be removed yet.
            pushes = room and cycle < 700
            if pushes:
                removable = held > 0 if end else away > 0
                job = draw(rng, number, held, removable)
                number += 1
                held += job["rests"] - job["removes"]
                away -= job["removes"] and not end
                jobs.append(job)
                ctx.set(worker.job, job)
            ctx.set(worker.push, pushes)
            ctx.set(worker.scan.go, rng.random() < going)
            may = ctx.get(worker.offers) and rng.random() < 0.5
            ctx.set(worker.send, may)
            _, _, room, probed, goes, offers, oldest, mask, probe, *resting = await ctx.tick().sample(
                worker.room,
                worker.probed,
                worker.goes,
                worker.offers,
                worker.oldest,
                worker.scan.mask,
                worker.scan.probe,
                *worker.scan.resting,
            )
            if probed:
                # All jobs up to the next one that scans have been done; a tuple that is sent now is still seen.
                seen = None
                while seen is None:
                    job = jobs.popleft()
                    seen = model.work(job)
                expected.append((job["tuple"]["payload"], sorted(one["payload"] for one in seen)))
            elif jobs and not any(job["probes"] for job in jobs) and not ctx.get(worker.busy):
                while jobs:
                    model.work(jobs.popleft())
            if may:
                assert offers
                assert not end, "at the end tuples stay"
                sends += 1
                held -= side == "r"
                away += side == "s"
                assert away <= FLIGHT
                while not model.unsent():
                    model.work(jobs.popleft())
                assert plain(oldest) == model.unsent()[0]
                model.send()
            if not end:
                assert goes == may
            for lane, one in enumerate(resting):
                if mask >> lane & 1:
                    shown.append((probe.payload, one.payload))
        assert not ctx.get(worker.busy)
        assert end or sends > 30

    run(worker, bench)
    assert len(expected) > 30
    assert shown_by_probe(shown) == [each for each in expected if each[1]]


def shown_by_probe(shown):
    """What was shown beside each tuple that scans, in the order of these; nothing is shown twice."""
    grouped = {}
    for probe, one in shown:
        grouped.setdefault(probe, []).append(one)
    assert [probe for n, (probe, _) in enumerate(shown) if not n or shown[n - 1][0] != probe] == list(grouped)
    return [(probe, sorted(ones)) for probe, ones in grouped.items()]
