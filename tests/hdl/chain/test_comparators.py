"""Comparators: of the pairs of each lane those that match, in order, and none is lost for want of room."""

import random
from types import SimpleNamespace

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.chain.comparators import Comparators
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import plain, run

RESERVE = 4


def compared(lanes, queue, stall, *, numbered=False, cycles=250, pairs=0.7, keys_of_s=(0, 15)):
    """Show pairs at random, as far as may be, then wait; what was shown, and what came out, each with its cycle."""
    rng = random.Random(lanes + queue)
    predicate = parse_predicate("lt")
    layout = TupleLayout(predicate, key_width=4, payload_width=12, numbered=numbered)
    dut = Comparators(layout, lanes, queue=queue, reserve=RESERVE)
    due, marks, out, idle = [[] for _ in range(lanes)], [], [], []

    async def bench(ctx):
        pauses, since_mark, under_way = [0] * RESERVE, 0, 0
        for cycle in range(cycles + 200):
            # Whoever shows pairs may hear of a pause late.
            shows = cycle < cycles and not pauses[-RESERVE]
            mask = sum(1 << lane for lane in range(lanes) if shows and rng.random() < pairs)
            for lane in range(lanes):
                number = cycle * lanes + lane
                r = {"key": rng.randrange(16), "payload": number % 4096, **({"order": number} if numbered else {})}
                s = {"key": rng.randint(*keys_of_s), "payload": lane, **({"order": 0} if numbered else {})}
                ctx.set(dut.r[lane], r)
                ctx.set(dut.s[lane], s)
                if mask >> lane & 1 and predicate.holds(SimpleNamespace(**r), SimpleNamespace(**s)):
                    due[lane].append((cycle, r["payload"]))
            ctx.set(dut.mask, mask)
            if numbered:
                since_mark += 1
                marked = not under_way and since_mark > 20 and cycle < cycles
                ctx.set(dut.mark, marked)
                ctx.set(dut.mark_order, cycle)
                if marked:
                    under_way, since_mark = 1, 0
                    marks.append(cycle)
            ctx.set(dut.o_result.ready, cycle >= cycles or rng.random() >= stall)
            port = dut.o_result
            _, _, valid, ready, item, pause, busy = await ctx.tick().sample(
                port.valid, port.ready, port.p, dut.pause, dut.busy
            )
            pauses.append(pause)
            if not busy:
                idle.append(cycle)
                assert not valid
            if valid and ready:
                out.append((cycle, plain(item)))
                if numbered and item.mark:
                    under_way = 0
        assert idle[-1] == cycle

    run(dut, bench)
    return due, marks, out, idle


@pytest.mark.parametrize(("lanes", "queue", "stall"), [(1, 1, 0.0), (1, 4, 0.7), (3, 1, 0.5), (4, 8, 0.9)])
def test_pairs_that_match_come_out_each_lane_in_order(lanes, queue, stall):
    due, _, out, idle = compared(lanes, queue, stall)
    for lane in range(lanes):
        assert [item["payload_r"] for _, item in out if item["payload_s"] == lane] == [
            number for _, number in due[lane]
        ]
        assert len(due[lane]) > 10
    # What was shown before a cycle in which nothing is inside has come out before it.
    for cycle in idle:
        shown = sum(at < cycle for lane in due for at, _ in lane)
        assert sum(at < cycle for at, _ in out) == shown


def test_nothing_is_lost_where_all_pairs_match_and_nobody_takes_them():
    """Whoever shows pairs hears of a pause as late as may be, and shows one in every cycle until then."""
    due, _, out, _ = compared(1, 1, 0.95, pairs=1.0, keys_of_s=(15, 15))
    assert [item["payload_r"] for _, item in out] == [number for _, number in due[0]]


@pytest.mark.parametrize(("lanes", "stall"), [(1, 0.0), (3, 0.5), (2, 0.9)])
def test_a_punctuation_comes_behind_the_pairs_of_its_cycle(lanes, stall):
    due, marks, out, _ = compared(lanes, 2, stall, numbered=True, pairs=1.0)
    assert [item["order"] for _, item in out if item["mark"]] == marks
    assert len(marks) > 1
    results = [item["payload_r"] for _, item in out if not item["mark"]]
    assert sorted(results) == sorted(number for lane in due for _, number in lane)
    said = -1
    for _, item in out:
        if item["mark"]:
            said = item["order"]
        else:
            assert item["payload_r"] // lanes > said, "it was shown before a punctuation that has left"
            assert item["order"] == item["payload_r"], "that of the later one"
