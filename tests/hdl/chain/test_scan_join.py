"""What two scans show is compared once; scans that share comparators take turns, and marks need both of them."""

import random
from collections import Counter, deque
from types import SimpleNamespace

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.chain.scan_join import ScanJoin
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import plain, run

PREDICATE = parse_predicate("lt")


class Scan:
    """A scan that shows each of its rows ``latency`` cycles after it may go; the last brings a punctuation, if any."""

    def __init__(self, port, rows, latency, marked):
        self.port, self.rows, self.marked = port, deque(rows), marked
        self._later = deque([None] * latency)
        self.gone = []

    def drive(self, ctx, wants):
        self.wants = bool(self.rows) and wants
        ctx.set(self.port.wants, self.wants)
        row = self._later.popleft()
        ctx.set(self.port.mask, row["mask"] if row else 0)
        if row:
            ctx.set(self.port.probe, row["probe"])
            for lane, resting in enumerate(row["resting"]):
                ctx.set(self.port.resting[lane], resting)
        if self.marked:
            ctx.set(self.port.mark, bool(row and row["last"]))
            ctx.set(self.port.mark_order, 4000)

    def goes(self, go, cycle):
        self._later.append(self.rows.popleft() if go and self.wants else None)
        if go and self.wants:
            self.gone.append(cycle)


def joined(*, lanes, shared, latency, stall, numbered=False, wanting=0.7, rows=60):
    """The pairs that are due and those that come out, the place of the mark among these, and when each scan went."""
    rng = random.Random(lanes * latency)
    layout = TupleLayout(PREDICATE, key_width=4, payload_width=12, numbered=numbered)
    dut = ScanJoin(layout, lanes, shared=shared, queue=2, latency=latency)

    def tuple_(number):
        return {"key": rng.randrange(16), "payload": number, **({"order": number} if numbered else {})}

    due, scans = Counter(), {}
    for first, side in ((0, "r"), (2048, "s")):
        lot = []
        for n in range(rows):
            probe, resting = tuple_(first + 8 * n), [tuple_(first + 8 * n + 1 + lane) for lane in range(lanes)]
            mask = rng.randrange(1, 1 << lanes)
            lot.append({"probe": probe, "resting": resting, "mask": mask, "last": n == rows - 1})
            for lane in range(lanes):
                r, s = (resting[lane], probe) if side == "r" else (probe, resting[lane])
                if mask >> lane & 1 and PREDICATE.holds(SimpleNamespace(**r), SimpleNamespace(**s)):
                    due[r["payload"], s["payload"]] += 1
        scans[side] = Scan(getattr(dut, side), lot, latency, numbered)
    out = []

    async def bench(ctx):
        for cycle in range(1500):
            for scan in scans.values():
                scan.drive(ctx, rng.random() < wanting)
            ctx.set(dut.o_result.ready, rng.random() >= stall)
            port = dut.o_result
            _, _, go_r, go_s, valid, ready, item, busy = await ctx.tick().sample(
                dut.r.go, dut.s.go, port.valid, port.ready, port.p, dut.busy
            )
            if shared:
                assert not (go_r and go_s), "they share the comparators"
            scans["r"].goes(go_r, cycle)
            scans["s"].goes(go_s, cycle)
            if valid and ready:
                out.append(plain(item))
            assert busy or not valid
        assert not busy

    run(dut, bench)
    return due, out, {side: scan.gone for side, scan in scans.items()}


@pytest.mark.parametrize(("lanes", "latency", "stall"), [(1, 3, 0.0), (2, 2, 0.5), (3, 3, 0.8)])
@pytest.mark.parametrize("shared", [True, False])
def test_every_pair_that_is_shown_and_matches_comes_out_once(shared, lanes, latency, stall):
    due, out, _ = joined(lanes=lanes, shared=shared, latency=latency, stall=stall)
    assert Counter((item["payload_r"], item["payload_s"]) for item in out) == due
    assert len(due) > 20


def test_scans_that_share_take_turns_and_those_that_do_not_go_at_once():
    _, _, gone = joined(lanes=1, shared=True, latency=3, stall=0.0, wanting=1.0, rows=20)
    assert all(abs(r - s) == 1 for r, s in zip(gone["r"][:19], gone["s"][:19], strict=True))
    _, _, gone = joined(lanes=1, shared=False, latency=3, stall=0.0, wanting=1.0, rows=20)
    assert gone["r"] == list(range(gone["r"][0], gone["r"][0] + 20))
    assert gone["s"] == gone["r"]


@pytest.mark.parametrize("shared", [True, False])
def test_a_punctuation_leaves_once_and_behind_everything_before_it_in_both_windows(shared):
    due, out, _ = joined(lanes=2, shared=shared, latency=2, stall=0.4, numbered=True)
    assert [item["mark"] for item in out] == [0] * sum(due.values()) + [1]
    assert out[-1]["order"] == 4000
    assert Counter((item["payload_r"], item["payload_s"]) for item in out[:-1]) == due
