"""The collector of batches: every tuple in one batch, numbered and sorted, and batches end when they should."""

import random
from collections import deque

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.bisort.batch_collector import BatchCollector
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import plain, run

LAYOUT = TupleLayout(parse_predicate("equi"), key_width=6, payload_width=12)
SUBWINDOW, BATCH, PATIENCE = 8, 5, 30
ARRAYS = SortedArrays(LAYOUT, (8, 8), SUBWINDOW, 1, BATCH, 1)


def collected(count, *, offering, stall, on_full="stall", seed=0):
    """Offer so many tuples, then drain; the batches of both streams, what was let in, in order, and how it ended."""
    collector = BatchCollector(ARRAYS, patience=PATIENCE, on_full=on_full)
    ports = {"r": collector.i_r, "s": collector.i_s}
    outs = {"r": collector.o_r, "s": collector.o_s}
    batches, accepted, told = {"r": [[]], "s": [[]]}, [], {}

    async def bench(ctx):
        rng = random.Random(seed)
        waiting = {side: deque() for side in ports}
        for n in range(count):
            side = rng.choice("rs")
            waiting[side].append({"key": rng.randrange(64), "payload": n})
        offered = dict.fromkeys(ports)
        for cycle in range(20 * count + 1000):
            for side, port in ports.items():
                if offered[side] is None and waiting[side] and rng.random() < offering:
                    offered[side] = waiting[side].popleft()
                    ctx.set(port.p, offered[side])
                ctx.set(port.valid, offered[side] is not None)
            for out in outs.values():
                ctx.set(out.ready, rng.random() >= stall)
            over = not any(waiting.values()) and not any(offered.values())
            ctx.set(collector.drain, over)
            values = [port.ready for port in ports.values()] + [collector.discarding, collector.drained]
            values += [signal for out in outs.values() for signal in (out.valid, out.ready, out.p)]
            _, _, *seen = await ctx.tick().sample(*values)
            discarding, drained = seen[2:4]
            for n, side in enumerate(ports):
                if offered[side] is not None and seen[n]:
                    if not discarding:
                        accepted.append((side, offered[side]))
                    offered[side] = None
                valid, ready, item = seen[4 + 3 * n : 7 + 3 * n]
                if valid and ready:
                    if item.end:
                        batches[side].append([])
                    else:
                        batches[side][-1].append(plain(item.tuple))
            if drained:
                told.update(cycle=cycle, dropped=ctx.get(collector.dropped))
                return

    run(collector, bench)
    assert told, "it was not drained"
    assert batches["r"].pop() == batches["s"].pop() == []
    return batches, accepted, told


def check(batches, accepted):
    """Both streams' batches are cut at the same points; all tuples are there, with their counts, by increasing key."""
    width = (1 << ARRAYS.number_width) - 1
    numbers, expected = {"r": 0, "s": 0}, {"r": [], "s": []}
    for side, one in accepted:
        counts = {"number": numbers[side] & width, "others": numbers["s" if side == "r" else "r"] & width}
        expected[side].append({**one, **counts})
        numbers[side] += 1
    assert len(batches["r"]) == len(batches["s"])
    for side in "rs":
        at = 0
        for batch in batches[side]:
            assert [one["key"] for one in batch] == sorted(one["key"] for one in batch)
            part = expected[side][at : at + len(batch)]
            assert sorted(batch, key=lambda one: one["payload"]) == part
            at += len(batch)
            assert len(batch) <= BATCH
            assert (at - len(batch)) // SUBWINDOW == max(0, at - 1) // SUBWINDOW or not batch, "beyond a subwindow"
        assert at == len(expected[side])
    # No tuple of a later batch came before one of an earlier batch.
    order = {one["payload"]: place for place, (_, one) in enumerate(accepted)}
    places = [
        sorted(order[one["payload"]] for side in "rs" for one in batches[side][n]) for n in range(len(batches["r"]))
    ]
    assert [place for batch in places for place in batch] == list(range(len(accepted)))


@pytest.mark.parametrize(("offering", "stall"), [(1.0, 0.0), (0.5, 0.5), (0.1, 0.0), (1.0, 0.8)])
def test_all_tuples_in_batches_that_are_sorted_and_cut_alike(offering, stall):
    batches, accepted, told = collected(60, offering=offering, stall=stall)
    check(batches, accepted)
    assert len(accepted) == 60
    assert told["dropped"] == 0


def test_a_full_batch_ends_at_once_and_a_lone_tuple_within_its_patience():
    batches, accepted, _ = collected(80, offering=1.0, stall=0.0)
    full = [n for n in range(len(batches["r"])) if BATCH in (len(batches["r"][n]), len(batches["s"][n]))]
    ends = {"r": 0, "s": 0}
    for n in range(len(batches["r"]) - 1):
        ends = {side: ends[side] + len(batches[side][n]) for side in "rs"}
        filled = any(batches[side][n] and ends[side] % SUBWINDOW == 0 for side in "rs")
        assert n in full or filled, "nothing else ends a batch while tuples keep coming"
    # Seldom a tuple: each waits for its patience, and none for a full batch.
    batches, accepted, _ = collected(6, offering=0.01, stall=0.0, seed=3)
    check(batches, accepted)
    assert len(batches["r"]) > 1


def test_what_finds_no_room_is_dropped_and_counted():
    """Nobody takes batches for long: the sorters fill up, and tuples are thrown away."""
    batches, accepted, told = collected(100, offering=1.0, stall=0.95, on_full="drop")
    check(batches, accepted)
    assert told["dropped"] == 100 - len(accepted) > 0
