"""The match arbiter: hits are picked one by one, each once, and the last of an arrival says so."""

import random
from collections import deque

import pytest

from streamjoin.hdl.multiway.match_arbiter import MatchArbiter
from streamjoin.hdl.multiway.window_places import WindowPlaces
from tests.hdl.stream_bench import run


def test_hits_are_picked_one_by_one_and_the_last_says_so():
    places = WindowPlaces(8, 0, 4)
    arbiter = MatchArbiter(places, 2)

    def told(ctx):
        return tuple(ctx.get(port) for port in (arbiter.picked, arbiter.some, arbiter.last, arbiter.release))

    async def push(ctx, line, **hit):
        where = {"lane": 2, "row": 0, "next_row": 1}
        ctx.set(arbiter.matches[line].p, {**where, **hit})
        ctx.set(arbiter.matches[line].valid, 1)
        await ctx.tick().until(arbiter.matches[line].ready)
        ctx.set(arbiter.matches[line].valid, 0)

    async def bench(ctx):
        ctx.set(arbiter.known, 3)
        ctx.set(arbiter.says_last, 1)
        await push(ctx, 0, found=0b0110, last=1)
        await push(ctx, 1, found=0b1000, last=1)
        ctx.set(arbiter.room, 3)
        # The second line goes first; it is not its arrival's last word. A tuple before lane 2 is in the next row.
        picked = []
        for _ in range(3):
            await ctx.tick()
            picked.append((*told(ctx), ctx.get(arbiter.place.row), ctx.get(arbiter.place.lane)))
        assert picked == [(2, 1, 0, 2, 0, 3), (1, 1, 0, 0, 1, 1), (1, 1, 1, 1, 0, 2)]
        await ctx.tick()
        assert ctx.get(arbiter.picked) == 0
        # Nothing found: an end is picked where one is to be told, else the line goes on without.
        await push(ctx, 0, found=0, last=1)
        await ctx.tick()
        assert told(ctx) == (1, 0, 1, 1)
        await push(ctx, 1, found=0, last=1)
        await ctx.tick()
        assert [ctx.get(port) for port in (arbiter.picked, arbiter.release)] == [0, 2]

    run(arbiter, bench)


@pytest.mark.parametrize("lines", [1, 2, 3])
def test_every_hit_of_every_line_is_picked_once_in_order(lines):
    """Scans of some rows each, with rooms that come and go: what is picked of a line is what its rows found."""
    rng, places = random.Random(lines), WindowPlaces(12, 0, 4)
    arbiter = MatchArbiter(places, lines)
    #: For each line, scans: whether each is its arrival's last word, and its rows.
    scans = [[(rng.random() < 0.5, list(rows(rng, places))) for _ in range(25)] for _ in range(lines)]
    picked, released = [[] for _ in range(lines)], [0] * lines

    async def bench(ctx):
        waiting = [deque(row for _, scan in each for row in scan) for each in scans]
        for _ in range(3000):
            offered = []
            for n, port in enumerate(arbiter.matches):
                offered.append(bool(waiting[n]) and rng.random() < 0.7)
                ctx.set(port.valid, offered[n])
                if offered[n]:
                    ctx.set(port.p, waiting[n][0])
            known = [released[n] < len(scans[n]) for n in range(lines)]
            says = [known[n] and scans[n][released[n]][0] for n in range(lines)]
            room = rng.getrandbits(lines)
            ctx.set(arbiter.known, sum(bit << n for n, bit in enumerate(known)))
            ctx.set(arbiter.says_last, sum(bit << n for n, bit in enumerate(says)))
            ctx.set(arbiter.room, room)
            _, _, lines_picked, some, last, place, release, *ready = await ctx.tick().sample(
                arbiter.picked,
                arbiter.some,
                arbiter.last,
                arbiter.place,
                arbiter.release,
                *(port.ready for port in arbiter.matches),
            )
            assert lines_picked & (lines_picked - 1) == 0, "one in a cycle"
            for n in range(lines):
                if offered[n] and ready[n]:
                    waiting[n].popleft()
                if lines_picked >> n & 1:
                    picked[n].append((released[n], (place.row, place.lane) if some else None, last))
                released[n] += release >> n & 1
            if released == [len(each) for each in scans]:
                return

    run(arbiter, bench)
    assert released == [len(each) for each in scans]
    assert picked == [list(expected(each)) for each in scans]


def rows(rng, places):
    """What a scan found, row by row; some rows have nothing, but the last one comes all the same."""
    count = rng.randint(1, 3)
    for n in range(count):
        found = rng.choice((0, 1 << rng.randrange(places.lanes), rng.randrange(1, 1 << places.lanes)))
        where = {"row": rng.randrange(2), "lane": rng.randrange(places.lanes), "next_row": 2}
        if found or n == count - 1:
            yield {**where, "found": found, "last": int(n == count - 1)}


def expected(scans):
    """What is to be picked of a line: (which scan, place, whether it is the last word)."""
    for number, (says_last, scan) in enumerate(scans):
        for row in scan:
            lanes = [lane for lane in range(4) if row["found"] >> lane & 1]
            for lane in lanes:
                where = (row["next_row"] if lane < row["lane"] else row["row"], lane)
                yield number, where, int(row["last"] and says_last and lane == lanes[-1])
            if not lanes and row["last"] and says_last:
                yield number, None, 1
