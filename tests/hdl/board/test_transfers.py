"""Pairs become transfers of one, two, … pairs: all of them, in their order, R before S."""

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.board.transfers import PairTransfers
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import plain, run, source

PAIRS = 40


@pytest.mark.parametrize("width", [2, 3, 8])
@pytest.mark.parametrize(("pause", "wait"), [(0, 0), (0.5, 0), (0, 3)])
def test_all_pairs_in_transfers_of_all_sizes(width, pause, wait):
    layout = TupleLayout(parse_predicate("equi"), key_width=7, payload_width=3, width=width)
    dut = PairTransfers(layout)
    pairs = [{"r": {"key": n, "payload": n % 8}, "s": {"key": 127 - n, "payload": (n + 5) % 8}} for n in range(PAIRS)]
    came, sizes = [], []

    async def sink(ctx):
        while len(came) < PAIRS:
            held = None
            for ready in (*[0] * wait, 1):
                ctx.set(dut.o_r.ready, ready)
                ctx.set(dut.o_s.ready, ready)
                ports = (dut.o_r.valid, dut.o_s.valid, dut.o_r.p, dut.o_s.p)
                _, _, valid_r, valid_s, r, s = await ctx.tick().sample(*ports)
                assert valid_r == valid_s
                if not valid_r:
                    break
                r, s = plain(r), plain(s)
                assert held in (None, (r, s)), "it stays until it is taken"
                held = r, s
            else:
                count = r["count"]
                assert s["count"] == count
                assert [slot.pop("after") for slot in s["slots"]] == [*range(1, width + 1)]
                came.extend({"r": r, "s": s} for r, s in zip(r["slots"][:count], s["slots"][:count], strict=True))
                sizes.append(count)

    run(dut, source(dut.i, pairs, pause, seed=1), sink)
    assert came == pairs
    if not pause:
        assert sizes[:-1] == [1 + n % width for n in range(len(sizes) - 1)], "as many as are wanted"
        assert set(sizes) == {*range(1, width + 1)}
