"""The comparators of the first stage: what goes with the probe in each row, in its own line, after their latency."""

import random
from types import SimpleNamespace

import pytest

from streamjoin.hdl.multiway.lane_bank import LaneBank
from streamjoin.hdl.stashed.pair_comparators import PairComparators
from tests.hdl.stashed.stash_shapes import shape
from tests.hdl.stream_bench import plain, run

OF_ONE, OF_TWO, OF_STASH = 1, 2, 4


def goes(kind, case, lane):
    """Whether what rests in a lane goes with the probe: the predicate is between a stream and the next."""
    resting = {OF_ONE: case["one"], OF_TWO: case["two"], OF_STASH: case["pairs"]}[case["source"]][lane]
    key = resting["keys"]["key"] if case["source"] == OF_STASH else resting["key"]
    probe, mine = SimpleNamespace(key=case["probe"]["keys"]["key"]), SimpleNamespace(key=key)
    order = (probe, mine) if case["probe"]["is_one"] else (mine, probe)
    matches = bool(kind.combination.layout.predicate.holds(*order))
    if kind.combination.span is not None:
        matches = matches and case["probe"]["time"] - resting["time"] < kind.combination.span
    if case["source"] == OF_STASH:
        # Both positions are at or after the first of their window.
        half = 1 << (kind.position - 1)
        matches = matches and all((resting[n] - case["first"][n]) % (2 * half) < half for n in ("one", "two"))
    return matches


@pytest.mark.parametrize(
    ("predicate", "span", "room"), [("equi", None, 6), ("lt", None, 6), ("lt", 4, 6), ("equi", 4, 0)]
)
def test_what_is_found_in_each_row(predicate, span, room):
    rng, kind = random.Random(6), shape(predicate, span, room=room)
    dut, lanes, rows = PairComparators(kind), kind.lanes, kind.widest.rows
    timed = span is not None

    def tuple_(time):
        return {"key": rng.randrange(4), **({"time": time - rng.randrange(8)} if timed else {})}

    def draw(n):
        time = 100 + n
        row = {"lane": rng.randrange(lanes), "row": rng.randrange(rows), "next_row": rng.randrange(rows)}
        first = {name: rng.randrange(1 << kind.position) for name in ("one", "two")}
        pairs = [
            {
                "keys": {"key": rng.randrange(4)},
                **({"time": time - rng.randrange(8)} if timed else {}),
                **{name: (first[name] + rng.randint(-2, 5)) % (1 << kind.position) for name in first},
            }
            for _ in range(lanes)
        ]
        shows = rng.choice((0, 1, 2))
        return {
            "shows": shows,
            "ends": rng.choice((0, 1, 2, 3)) & ~shows,
            "row": {**row, "further": 0, "rest": 0, "last": rng.randrange(2)},
            "source": rng.choice((OF_ONE, OF_TWO, *([OF_STASH] if room else []))),
            "probe": {
                "keys": {"key": rng.randrange(4)},
                **({"time": time} if timed else {}),
                "is_one": rng.randrange(2),
            },
            "one": [tuple_(time) for _ in range(lanes)],
            "two": [tuple_(time) for _ in range(lanes)],
            "counts": rng.randrange(1 << lanes),
            "pairs": pairs,
            "first": first,
        }

    cases = [draw(n) for n in range(400)]
    seen = []

    async def bench(ctx):
        for n in range(len(cases) + dut.LATENCY):
            now = cases[min(n, len(cases) - 1)]
            for name in ("shows", "ends", "row", "source", "probe"):
                ctx.set(getattr(dut, name), now[name] if n < len(cases) or name not in ("shows", "ends") else 0)
            # What rests in a row comes as much later as it takes to read it.
            then = cases[min(max(0, n - LaneBank.LATENCY), len(cases) - 1)]
            for name in ("one", "two", *(["pairs"] if room else [])):
                for lane, item in enumerate(then[name]):
                    ctx.set(getattr(dut, name)[lane], item)
            ctx.set(dut.counts, then["counts"])
            if room:
                ctx.set(dut.first, then["first"])
            _, _, *out = await ctx.tick().sample(*dut.o)
            seen.append([plain(item) for item in out])

    run(dut, bench)
    matches = 0
    for case, out in zip(cases, seen[dut.LATENCY :], strict=True):
        found = sum(1 << lane for lane in range(lanes) if case["counts"] >> lane & 1 and goes(kind, case, lane))
        for line in (0, 1):
            shows, ends = case["shows"] >> line & 1, case["ends"] >> line & 1
            valid = ends or (shows and (found != 0 or case["row"]["last"]))
            assert out[line]["valid"] == valid
            if valid:
                where = {name: case["row"][name] for name in ("lane", "row", "next_row")}
                last = int(ends or case["row"]["last"])
                assert out[line]["match"] == {**where, "found": 0 if ends else found, "last": last}
                matches += not ends and found != 0
    assert matches > 20
