"""The emitter of the first stage: what comes of each match, by the kind of work that it was found for."""

import random
from collections import deque

import pytest

from streamjoin.hdl.stashed.stash_emitter import StashEmitter
from streamjoin.hdl.stashed.stash_shape import ANEW, DEEP, ONE, STASHED, TWO
from tests.hdl.stashed.stash_shapes import shape
from tests.hdl.stream_bench import plain, run

ROOM_FOR = {ONE: "room_pair", TWO: "room_pair", ANEW: "room_anew", STASHED: "room_result", DEEP: "room_result"}


class Stores:
    """What is kept of tuples and pairs, by place; all payloads differ."""

    def __init__(self, kind, rng):
        self.kind, self.equi, self.timed = kind, kind.combination.equi, kind.combination.span is not None
        self._rng, self._payload = rng, 0
        places = [(row, lane) for row in range(kind.widest.rows) for lane in range(kind.lanes)]
        self.one, self.two = ({place: self._stored() for place in places} for _ in range(2))
        self.pair = {place: {"one": self.part(), "two": self.part()} for place in places}

    def part(self):
        self._payload += 1
        return {"payload": self._payload, **({} if self.equi else {"key": self._rng.randrange(16)})}

    def _stored(self):
        position = self._rng.randrange(1 << self.kind.position)
        return {"part": self.part(), "position": position, **({"time": self._rng.randrange(99)} if self.timed else {})}

    def message(self, depth, number):
        """A combination of so many parts."""
        key = {"key": self._rng.randrange(16)} if self.equi else {}
        time = {"time": 100 + number} if self.timed else {}
        parts = [self.part() for _ in range(depth)]
        last = int(self._rng.random() < 0.6)
        return {"parts": parts, **key, **time, "number": number % 8, "some": 1, "last": last}

    def rows(self):
        """What a scan found, row by row."""
        count = self._rng.randint(1, 3)
        for n in range(count):
            found = self._rng.choice((0, self._rng.randrange(1, 1 << self.kind.lanes)))
            row, lane = self._rng.randrange(self.kind.widest.rows - 1), self._rng.randrange(self.kind.lanes)
            if found or n == count - 1:
                yield {"row": row, "next_row": row + 1, "lane": lane, "found": found, "last": int(n == count - 1)}

    def expected(self, kind, message, position, rows):
        """What is given out, as far as it is known: parts, positions of a pair, and the time of its older tuple."""
        for row in rows:
            lanes = [lane for lane in range(self.kind.lanes) if row["found"] >> lane & 1]
            for lane in lanes:
                where = (row["next_row"] if lane < row["lane"] else row["row"], lane)
                one, two, pair = self.one[where], self.two[where], self.pair[where]
                arrival = message["parts"]
                parts = {
                    ONE: {0: arrival[0], 1: two["part"]},
                    TWO: {0: one["part"], 1: arrival[0]},
                    STASHED: {0: pair["one"], 1: pair["two"], 2: arrival[0]},
                    ANEW: {1: two["part"], 2: arrival[0]},
                    DEEP: {0: one["part"], 1: arrival[0], 2: arrival[-1]},
                }[kind]
                positions = {ONE: (position, two["position"]), TWO: (one["position"], position)}.get(kind)
                older = {ONE: two, TWO: one}.get(kind) if self.timed else None
                last = int(row["last"] and message["last"] and lane == lanes[-1])
                yield message["number"], 1, last, parts, positions, older and older["time"]
            if not lanes and row["last"] and message["last"]:
                yield message["number"], 0, 1, {}, None, None


@pytest.mark.parametrize(
    ("predicate", "span", "room"), [("equi", None, 6), ("band:1", None, 6), ("equi", 9, 6), ("lt", 9, 0)]
)
def test_what_comes_of_each_hit(predicate, span, room):
    rng, kind = random.Random(3), shape(predicate, span, room=room)
    emitter, stores = StashEmitter(kind), Stores(kind, rng)
    kinds = [ONE, TWO, ANEW, *([STASHED] if room else [])]
    work = [(rng.choice(kinds), stores.message(1, n), rng.randrange(1 << kind.position)) for n in range(40)]
    deeper = [(DEEP, stores.message(2, n), 0) for n in range(20)]
    lines = [[(*one, list(stores.rows())) for one in line] for line in (work, deeper)]
    found, done = [[], []], 0

    async def bench(ctx):
        nonlocal done
        rows = [deque(row for *_, each in line for row in each) for line in lines]
        waiting = [deque(line) for line in lines]
        rooms, place = [dict.fromkeys(ROOM_FOR.values(), 0)] * emitter.RESERVE, (0, 0)
        for _ in range(1500):
            rooms.append({name: int(rng.random() < 0.6) for name in set(ROOM_FOR.values())})
            for name, up in rooms[-1].items():
                ctx.set(getattr(emitter, name), up)
            # What is kept where the last pick was.
            for name in ("one", "two", *(["pair"] if room else [])):
                ctx.set(getattr(emitter, name), getattr(stores, name)[place])
            for line, port in enumerate((emitter.probe, emitter.deep)):
                ctx.set(port.valid, bool(waiting[line]))
                if waiting[line]:
                    what, message, position, _ = waiting[line][0]
                    asked = {"message": message, "kind": what, "position": position} if line == 0 else message
                    ctx.set(port.p, asked)
                ctx.set(emitter.matches[line].valid, bool(rows[line]))
                if rows[line]:
                    ctx.set(emitter.matches[line].p, rows[line][0])
            watched = [emitter.place, emitter.comes_of, emitter.message, emitter.positions, emitter.done, emitter.busy]
            watched += [emitter.time] if stores.timed else []
            ports = [emitter.probe.ready, emitter.deep.ready, *(matches.ready for matches in emitter.matches)]
            _, _, ready, deep_ready, taken, deep_taken, *told = await ctx.tick().sample(*ports, *watched)
            where, comes_of, message, positions, ended, busy, *time = told
            assert ended == ready
            done += ended
            place = (where.row, where.lane)
            for line, (out, gone) in enumerate(((ready, taken), (deep_ready, deep_taken))):
                if rows[line] and gone:
                    rows[line].popleft()
                if waiting[line] and out:
                    waiting[line].popleft()
            if comes_of:
                what = comes_of.bit_length() - 1
                assert comes_of == 1 << what, "one in a cycle"
                assert rooms[-1 - emitter.RESERVE][ROOM_FOR[what]], "there was no room"
                assert busy
                found[what == DEEP].append((what, plain(message), plain(positions), *time))
        assert not any(waiting)

    run(emitter, bench)
    assert done == len(work)
    for line, given in zip(lines, found, strict=True):
        expected = [(what, *each) for what, *one in line for each in stores.expected(what, *one)]
        assert len(expected) > 15
        assert len(given) == len(expected)
        for (what, message, positions, *time), (*head, parts, pair, older) in zip(given, expected, strict=True):
            assert [what, message["number"], message["some"], message["last"]] == head
            assert {n: message["parts"][n] for n in parts} == parts
            if pair:
                assert (positions["one"], positions["two"]) == pair
            if older is not None:
                assert time == [older]
