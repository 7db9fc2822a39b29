"""Records as results: what comes in goes out, and the end of a step between them."""

import random

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.bisort.record_output import RecordOutput
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.bisort.sorted_lines import stored
from tests.hdl.stream_bench import plain, run

LAYOUT = TupleLayout(parse_predicate("equi"), key_width=6, payload_width=8)
ARRAYS = SortedArrays(LAYOUT, (16, 16), 16, 2, 8, 2)


def test_records_and_ends_of_steps():
    rng, dut, ends = random.Random(1), RecordOutput(ARRAYS), 0

    async def bench(ctx):
        nonlocal ends
        for _ in range(300):
            record = {"probe": stored(rng.randrange(64), rng.randrange(256)), "first": rng.randrange(80), "count": 5}
            some, end, ready, of_s = (rng.random() < 0.5 for _ in range(4))
            place, count = rng.randrange(80), rng.randrange(9)
            for port, value in (
                (dut.i.p, record),
                (dut.i.valid, some),
                (dut.end, end),
                (dut.place, place),
                (dut.count, count),
                (dut.of_s, of_s),
                (dut.o.ready, ready),
            ):
                ctx.set(port, value)
            valid, item, taken = ctx.get(dut.o.valid), plain(ctx.get(dut.o.p)), ctx.get(dut.i.ready)
            assert valid == (some or end)
            assert taken == (ready and not end), "a record waits while the end of a step is told"
            if end:
                assert item == {"payload": 0, "of_s": of_s, "first": place, "count": count, "mark": 1}
                ends += 1
            elif some:
                payload = record["probe"]["payload"]
                assert item == {"payload": payload, "of_s": of_s, "first": record["first"], "count": 5, "mark": 0}
            await ctx.tick()

    run(dut, bench)
    assert ends > 50
