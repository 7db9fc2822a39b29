"""The emitter: of each tuple that was found a combination one tuple longer, in order, and only where there is room."""

import random
from collections import deque

import pytest

from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.multiway.combination import Combination
from streamjoin.hdl.multiway.emitter import Emitter, PartStore
from streamjoin.hdl.multiway.window_places import WindowPlaces
from streamjoin.reference.predicates import parse_predicate
from tests.hdl.stream_bench import plain, run, stepped

PLACES = WindowPlaces(9, 3, 4)


def test_an_item_is_fetched_from_its_place_in_the_next_cycle():
    rng, steps, rests, expected = random.Random(4), [], {}, [None]
    for _ in range(200):
        place = {"lane": rng.randrange(4), "row": rng.randrange(3)}
        known = [where for where in rests if where != tuple(place.values())]
        wanted = rng.choice(known) if known else (0, 0)
        step = {"store": rng.random() < 0.6, "place": place, "item": rng.randrange(256)}
        steps.append({**step, "wanted": {"lane": wanted[0], "row": wanted[1]}})
        expected.append(rests.get(wanted))
        if step["store"]:
            rests[tuple(place.values())] = step["item"]
    found = [item for (item,) in stepped(PartStore(8, PLACES), steps, ["fetched"])]
    known = [n for n in range(len(steps)) if expected[n] is not None]
    assert len(known) > 150
    assert [found[n] for n in known] == [expected[n] for n in known]


def scans_of(rng, combination, depth, count):
    """Messages of one depth, each with the rows that were found for it."""
    for n in range(count):
        parts = [{"payload": rng.randrange(256), **keys_of(rng, combination)} for _ in range(depth)]
        message = {"parts": parts, "number": n % (1 << combination.number), "some": 1, "last": int(rng.random() < 0.5)}
        if combination.equi:
            message["key"] = rng.randrange(16)
        rows = []
        for row in range(rng.randint(1, 3)):
            found = rng.choice((0, rng.randrange(1, 16)))
            rows.append({"row": row, "lane": rng.randrange(4), "next_row": (row + 1) % 3, "found": found, "last": 0})
        rows[-1]["last"] = 1
        yield message, [row for row in rows if row["found"] or row["last"]]


def keys_of(rng, combination):
    return {} if combination.equi else {"key": rng.randrange(16)}


def grown(message, rows, parts):
    """The combinations that come of a message: its own parts, and one more."""
    for row in rows:
        lanes = [lane for lane in range(4) if row["found"] >> lane & 1]
        for lane in lanes:
            last = int(row["last"] and message["last"] and lane == lanes[-1])
            where = (row["next_row"] if lane < row["lane"] else row["row"], lane)
            yield {**message, "parts": [*message["parts"], parts[where]], "some": 1, "last": last}
        if not lanes and message["last"]:
            yield {**message, "some": 0, "last": 1}


@pytest.mark.parametrize(
    ("predicate", "depths"), [("equi", range(1, 4)), ("band:1", range(1, 3)), ("equi", range(2, 3))]
)
def test_combinations_grow_by_what_was_found(predicate, depths):
    rng = random.Random(8)
    sides = tuple(f"s{n + 1}" for n in range(depths[-1] + 1))
    layout = TupleLayout(parse_predicate(predicate), key_width=4, payload_width=8, sides=sides)
    combination = Combination(layout, flight=8)
    emitter = Emitter(combination, PLACES, depths)
    parts = {
        (row, lane): {"payload": rng.randrange(256), **keys_of(rng, combination)}
        for row in range(PLACES.rows)
        for lane in range(PLACES.lanes)
    }
    scans = {depth: list(scans_of(rng, combination, depth, 20)) for depth in depths}
    out = {depth: [] for depth in depths}

    async def bench(ctx):
        for (row, lane), part in parts.items():
            ctx.set(emitter.store, 1)
            ctx.set(emitter.place, {"row": row, "lane": lane})
            ctx.set(emitter.part, part)
            await ctx.tick()
        ctx.set(emitter.store, 0)
        messages = {depth: deque(message for message, _ in scans[depth]) for depth in depths}
        rows = {depth: deque(row for _, each in scans[depth] for row in each) for depth in depths}
        rooms = [0] * emitter.RESERVE
        for _ in range(1500):
            rooms.append(rng.getrandbits(len(depths)))
            ctx.set(emitter.room, rooms[-1])
            offered = {}
            for n, depth in enumerate(depths):
                message, matches = getattr(emitter, f"message{depth}"), emitter.matches[n]
                ctx.set(message.valid, bool(messages[depth]))
                if messages[depth]:
                    ctx.set(message.p, messages[depth][0])
                offered[depth] = bool(rows[depth]) and rng.random() < 0.8
                ctx.set(matches.valid, offered[depth])
                if offered[depth]:
                    ctx.set(matches.p, rows[depth][0])
            ready = [getattr(emitter, f"message{depth}").ready for depth in depths]
            _, _, given, item, *ready = await ctx.tick().sample(
                emitter.depth, emitter.o, *ready, *(matches.ready for matches in emitter.matches)
            )
            assert given & ~rooms[-1 - emitter.RESERVE] == 0, "there was no room"
            for n, depth in enumerate(depths):
                if given >> n & 1:
                    out[depth].append(plain(item))
                if messages[depth] and ready[n]:
                    messages[depth].popleft()
                if offered[depth] and ready[len(depths) + n]:
                    rows[depth].popleft()
        assert not any(messages.values())

    run(emitter, bench)
    for depth in depths:
        expected = [one for message, rows in scans[depth] for one in grown(message, rows, parts)]
        assert len(expected) > 20
        found = []
        for item in out[depth]:
            long = depth + item["some"]
            found.append({**item, "parts": item["parts"][:long]})
        assert found == expected
