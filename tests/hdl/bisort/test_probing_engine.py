"""The probing engine: a batch through all subwindows of the other stream, as a search in each of them would find."""

import random

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.bisort.probing_engine import ProbingEngine
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.bisort.sorted_lines import in_lines, index, ranks, stored
from tests.hdl.stream_bench import memory, plain, run

SUBWINDOW, PARTITIONS, LANES, BATCH = 8, 2, 2, 6
REGIONS = [4, 0, 2]  # where the subwindows of the other stream lie
PLACE = 24


class Case:
    """Sorted subwindows of the one stream, some of them empty, and a sorted batch of the other; all of it is due."""

    def __init__(self, predicate, of_s, seed):
        rng = random.Random(seed)
        layout = TupleLayout(parse_predicate(predicate), key_width=5, payload_width=12)
        windows = (16, 3) if of_s else (3, 16)
        self.arrays = SortedArrays(layout, windows, SUBWINDOW, PARTITIONS, BATCH, LANES)
        self.of_s = of_s
        counts = [SUBWINDOW, 0, 5]
        self.keys = {
            region: sorted(rng.randrange(32) for _ in range(count))
            for region, count in zip(REGIONS, counts, strict=True)
        }
        self.batch = [
            stored(key, 500 + n, number=n, others=13)
            for n, key in enumerate(sorted(rng.randrange(32) for _ in range(BATCH)))
        ]
        # The numbers of what is stored: all of it within the window of those that come.
        self.stored = {}
        for number, (region, place) in enumerate((r, p) for r in REGIONS for p in range(len(self.keys[r]))):
            key = self.keys[region][place]
            self.stored[region * SUBWINDOW + place] = stored(key, region * SUBWINDOW + place, number=number)

    def ranges(self):
        """(payload of the one that probes, first place, count), pass after pass."""
        for region in REGIONS:
            for low, high in self.arrays.layout.predicate.key_ranges:
                below, beyond = (low, high + 1) if self.of_s else (-high, -low + 1)
                for one in self.batch:
                    first, end = ranks(self.keys[region], [one["key"] + below, one["key"] + beyond])
                    if end > first:
                        yield one["payload"], region * SUBWINDOW + first, end - first

    def run(self, engine, half):
        """Start the engine on the batch in one half of its memory; all results, in order."""
        arrays, out = self.arrays, []
        places = [self.stored.get(place, stored(0)) for place in range(arrays.places)]
        # Beyond the batch there are tuples that would match, too.
        stranger = {**self.batch[-1], "payload": 4095}
        batches = in_lines(self.batch, LANES, half * arrays.half, 2 * arrays.half // LANES, stranger)
        rng = random.Random(1)

        async def bench(ctx):
            ctx.set(engine.of_s, self.of_s)
            ctx.set(engine.batch, half * arrays.half)
            ctx.set(engine.count, len(self.batch))
            ctx.set(engine.place, PLACE)
            await ctx.tick().repeat(4)
            assert not ctx.get(engine.busy)
            ctx.set(engine.start, 1)
            await ctx.tick()
            ctx.set(engine.start, 0)
            for _ in range(3000):
                ctx.set(engine.o_result.ready, rng.random() < 0.6)
                port = engine.o_result
                _, _, valid, ready, item, busy = await ctx.tick().sample(port.valid, port.ready, port.p, engine.busy)
                if valid and ready:
                    out.append(plain(item))
                if not busy:
                    assert not valid, "not all results have left"
                    return
            raise AssertionError("it did not end")

        async def slots(ctx):
            async for _, _, slot in ctx.tick().sample(engine.slot):
                region = REGIONS[slot % len(REGIONS)]
                ctx.set(engine.array, {"region": region, "count": len(self.keys[region])})

        run(
            engine,
            bench,
            background=[
                slots,
                memory(engine.batches, batches),
                memory(engine.main, in_lines(places, LANES), latency=3),
                index(engine.index, self.keys, arrays.partition),
            ],
        )
        return out


@pytest.mark.parametrize(
    ("predicate", "of_s", "probers"),
    [("band:2", 0, 1), ("bands:-9..-4,2..3", 1, 2), ("bands:-9..-4,2..3", 0, 4)],
)
def test_pairs_are_what_a_search_finds(predicate, of_s, probers):
    case = Case(predicate, of_s, seed=probers)
    out = case.run(ProbingEngine(case.arrays, probers=probers, ahead=2), half=probers % 2)
    mine, theirs = ("payload_s", "payload_r") if of_s else ("payload_r", "payload_s")
    found = sorted((item[mine], item[theirs]) for item in out)
    expected = sorted((probe, first + n) for probe, first, count in case.ranges() for n in range(count))
    assert len(expected) > 4
    assert found == expected


@pytest.mark.parametrize("probers", [1, 2])
def test_records_and_the_end_of_the_step(probers):
    case = Case("bands:-9..-4,2..3", 1, seed=9)
    *out, end = case.run(ProbingEngine(case.arrays, probers=probers, ahead=2, expand=False), half=0)
    found = sorted((item["payload"], item["first"], item["count"]) for item in out)
    assert found == sorted(case.ranges())
    assert all(item["of_s"] and not item["mark"] for item in out)
    assert end == {"payload": 0, "of_s": 1, "first": PLACE, "count": BATCH, "mark": 1}
