"""The expander: of all tuples that records name, the pairs that are due, and no others."""

import random

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.bisort.expander import Expander
from streamjoin.hdl.bisort.sorted_arrays import SortedArrays
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.bisort.sorted_lines import in_lines
from tests.hdl.stream_bench import memory, plain, run, sink, source

SUBWINDOW, LANES = 16, 2
WINDOWS = (5, 9)


def arrivals(count, width, rng, **more):
    """Tuples of both streams in their order of arrival, with the numbers that they would have late in a long run."""
    before = {"r": 1000, "s": 3000}
    for n in range(count):
        side = rng.choice("rs")
        other = "s" if side == "r" else "r"
        counts = {"number": before[side] % (1 << width), "others": before[other] % (1 << width)}
        fields = {name: draw(n) for name, draw in more.items()}
        yield side, before[side], {"key": rng.randrange(64), "payload": n, **counts, **fields}
        before[side] += 1


@pytest.mark.parametrize("of_s", [0, 1])
@pytest.mark.parametrize("stall", [0.0, 0.6])
@pytest.mark.parametrize("kind", ["counts", "time", "second key"])
def test_pairs_that_are_due(kind, stall, of_s):
    """Every record names all that is stored: only numbers, and where there are any other conditions, can tell."""
    rng = random.Random(7)
    predicate, more, spans = "band:63", {}, None
    if kind == "time":
        spans, more = (6, 4), {"time": lambda n: n}
    if kind == "second key":
        predicate, more = "band2:63,10", {"key2": lambda _: rng.randrange(64)}
    layout = TupleLayout(parse_predicate(predicate), key_width=6, payload_width=12, time_width=8, spans=spans)
    arrays = SortedArrays(layout, WINDOWS, SUBWINDOW, 1, 8, LANES)
    everything = list(arrivals(24, arrays.number_width, rng, **more))
    probing, resting = ("s", "r") if of_s else ("r", "s")
    stored = [(number, one) for side, number, one in everything if side == resting]
    records = [
        {"probe": one, "first": SUBWINDOW, "count": len(stored)} for side, _, one in everything if side == probing
    ]
    window = {"r": WINDOWS[0], "s": WINDOWS[1]}

    def is_due(probe, other):
        """By the order of arrival, which payloads tell: how many of the earlier one's stream came up to the later."""
        earlier, later = sorted((probe, other), key=lambda one: one["payload"])
        side = everything[earlier["payload"]][0]
        behind = sum(of == side for of, _, _ in everything[earlier["payload"] : later["payload"]])
        if behind > window[side]:
            return False
        if kind == "time":
            return later["time"] - earlier["time"] < spans["rs".index(side)]
        return kind != "second key" or abs(probe["key2"] - other["key2"]) <= 10

    due = [(record["probe"], other) for record in records for _, other in stored if is_due(record["probe"], other)]
    expected = [
        {"r": (other if of_s else probe)["payload"], "s": (probe if of_s else other)["payload"]} for probe, other in due
    ]
    assert 0 < len(expected) < len(records) * len(stored), "some are due, and some are not"
    expander, out, busy = Expander(arrays, ahead=3), [], []
    lines = in_lines([one for _, one in stored], LANES, SUBWINDOW)
    blank = dict.fromkeys(stored[0][1], 0)
    lines = [[{**blank, **one} for one in line] for line in lines]

    async def side(ctx):
        ctx.set(expander.of_s, of_s)
        await source(expander.i, records, stall)(ctx)
        for _ in range(3000):
            _, _, inside = await ctx.tick().sample(expander.busy)
            busy.append(inside)
            if not inside:
                return

    run(expander, side, sink(expander.o, len(expected), out, stall), background=[memory(expander.memory, lines, 3)])
    found = [plain(item) for _, item in out]
    assert [{"r": item["payload_r"], "s": item["payload_s"]} for item in found] == expected
    assert busy[-1] == 0
