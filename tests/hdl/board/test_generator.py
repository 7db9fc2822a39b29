"""The generator: the tuples that the software computes, as fast as they are taken, and then no more."""

import numpy as np
import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.board.generator import PairGenerator
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import run, sink


@pytest.mark.parametrize("predicate", ["equi", "band2:1,1"])
@pytest.mark.parametrize(("widths", "stall"), [((3, 2), 0.0), ((40, 9), 0.5), ((70, 70), 0.0)])
def test_generated_tuples_are_those_of_the_software(predicate, widths, stall):
    layout = TupleLayout(
        parse_predicate(predicate), key_width=widths[0], payload_width=widths[1], time_width=4, spans=(3, 3)
    )
    generator = PairGenerator(layout, pairs=40, key_bits=5, seed=3)
    arrivals = generator.arrivals()
    assert (np.diff(arrivals.time) >= 0).all()
    assert arrivals.time.max() < 16
    fields = list(layout.tuple.members)
    expected = [[getattr(arrivals, field)[n] for field in fields] for n in range(80)]
    assert len({tuple(tuple_) for tuple_ in expected}) > 8
    for bit in range(min(widths[1], 62)):
        assert {int(payload) >> bit & 1 for payload in arrivals.payload} == {0, 1}, f"bit {bit} never moves"

    out = []
    run(generator, sink(generator.o, 40, out, stall))
    assert [[item[side][field] for field in fields] for _, item in out for side in "rs"] == expected
    if not stall:
        assert [cycle for cycle, _ in out] == list(range(40)), "a pair can be taken in every cycle"


def test_then_no_more():
    layout = TupleLayout(parse_predicate("equi"), key_width=8, payload_width=8)
    generator = PairGenerator(layout, pairs=3, key_bits=5, seed=1)
    offered = []

    async def bench(ctx):
        for ready in (0, 1, 1, 0, 1, 1, 1):
            ctx.set(generator.o.ready, ready)
            _, _, valid = await ctx.tick().sample(generator.o.valid)
            offered.append(valid)

    run(generator, bench)
    assert offered == [1, 1, 1, 1, 1, 0, 0]


def test_at_least_one_pair():
    layout = TupleLayout(parse_predicate("equi"))
    with pytest.raises(ValueError, match="at least one pair, not 0"):
        PairGenerator(layout, pairs=0, key_bits=5, seed=1)
