"""The driver of a low-latency join: messages of all that enters, word of what has expired, punctuations, the end."""

import random
from collections import deque
from itertools import pairwise

import pytest

from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.llhj.driver import ExpeditionDriver
from tests.hdl.llhj.expeditions import expedition
from tests.hdl.stream_bench import plain, run

CORES, WINDOWS = 3, {"r": 5, "s": 4}
PACE = Pace(3, 4, 6)
PERIOD = 6


class Chain:
    """What lies between both ends: messages come out again some cycles after they went in, in their order."""

    def __init__(self, rng, longest):
        self._rng, self._longest = rng, longest
        self._inside = deque()

    def enter(self, cycle, message):
        after = max(cycle + self._rng.randint(3, self._longest), self._inside[-1][0] + 1 if self._inside else 0)
        self._inside.append((after, message))

    def leave(self, cycle):
        return self._inside.popleft()[1] if self._inside and self._inside[0][0] <= cycle else None


def driven(count, *, numbered=False, outstanding=None, on_full="stall", offering=0.6, longest=30):
    """All that went in and out, by cycle: accepted tuples, messages to both ends, and those that came back."""
    rng = random.Random(longest)
    join = expedition(cores=CORES, lanes=1, windows=tuple(WINDOWS.values()), numbered=numbered)
    driver = ExpeditionDriver(join, PACE, period=PERIOD, outstanding=outstanding, on_full=on_full, start=3, settle=5)
    ports, entrances = {"r": driver.i_r, "s": driver.i_s}, {"r": driver.to_right, "s": driver.to_left}
    exits, chains = {"r": driver.from_left, "s": driver.from_right}, {side: Chain(rng, longest) for side in "rs"}
    seen = {"accepted": [], "sent": {"r": [], "s": []}, "back": {"r": [], "s": []}, "left": [], "lost": 0}

    async def bench(ctx):
        waiting = {side: deque({"key": n % 16, "payload": n} for n in range(count)) for side in "rs"}
        offered, rooms, marks = dict.fromkeys("rs"), [(0, 0)] * 3, Chain(rng, 12)
        for cycle in range(6000):
            for side, port in ports.items():
                if offered[side] is None and waiting[side] and rng.random() < offering:
                    offered[side] = waiting[side].popleft()
                    ctx.set(port.p, offered[side])
                ctx.set(port.valid, offered[side] is not None)
                back = chains[side].leave(cycle)
                ctx.set(exits[side].valid, back is not None)
                if back is not None:
                    ctx.set(exits[side].message, back)
                    seen["back"][side].append((cycle, back))
                    if back.get("punctuates"):
                        marks.enter(cycle, back["tuple"]["order"])
            if numbered:
                mark = marks.leave(cycle)
                ctx.set(driver.punctuated, mark is not None)
                if mark is not None:
                    seen["left"].append((cycle, mark))
            room = tuple(int(rng.random() < 0.8) for _ in range(2))
            ctx.set(driver.to_right.room, room[0])
            ctx.set(driver.to_left.room, room[1])
            over = not any(waiting.values()) and not any(offered.values())
            ctx.set(driver.drain, over)
            signals = [driver.i_r.ready, driver.discarding, driver.drained]
            signals += [signal for end in entrances.values() for signal in (end.valid, end.message)]
            _, _, ready, discarding, drained, *told = await ctx.tick().sample(*signals)
            for side in "rs":
                if offered[side] is not None and ready:
                    if discarding:
                        seen["lost"] += 1
                    else:
                        assert rooms[-1] == (1, 1), "let in without room"
                        seen["accepted"].append((cycle, side, offered[side]))
                    offered[side] = None
            rooms.append(room)
            for side, valid, message in (("r", *told[:2]), ("s", *told[2:])):
                if valid:
                    seen["sent"][side].append((cycle, plain(message)))
                    chains[side].enter(cycle, plain(message))
            if drained:
                seen["dropped"] = ctx.get(driver.dropped)
                return
        raise AssertionError("it was not drained")

    run(driver, bench)
    return join, seen


def entered_before(seen, side, cycle):
    return sum(of == side and at < cycle for at, of, _ in seen["accepted"])


@pytest.mark.parametrize(("on_full", "longest"), [("stall", 5), ("stall", 40), ("drop", 10)])
def test_messages_of_all_that_enters(on_full, longest):
    """In order, a cycle after they were let in, to homes that go round, at no more than the pace of the cores."""
    _, seen = driven(40, on_full=on_full, longest=longest)
    for side in "rs":
        accepted = [(cycle, one) for cycle, of, one in seen["accepted"] if of == side]
        brought = [(cycle, message) for cycle, message in seen["sent"][side] if message["valid"]]
        assert [(cycle - 1, message["tuple"]) for cycle, message in brought] == accepted
        positions = [n % CORES if side == "r" else CORES - 1 - n % CORES for n in range(len(brought))]
        assert [message["hops"] for _, message in brought] == positions
        assert all(message["fresh"] and message["arrives"] == (message["hops"] == 0) for _, message in brought)
        # Whoever is pushed out of the window has come back by then.
        back = [cycle for cycle, message in seen["back"][side] if message["valid"]]
        for n in range(WINDOWS[side], len(accepted)):
            assert back[n - WINDOWS[side]] < accepted[n][0]
        assert len(accepted) > 10
    cycles = sorted({cycle for cycle, _, _ in seen["accepted"]})
    for before, after in pairwise(cycles):
        together = "".join(sorted(side for cycle, side, _ in seen["accepted"] if cycle == before))
        assert after - before >= {"r": PACE.r, "s": PACE.s, "rs": PACE.both}[together]
    assert seen["dropped"] == seen["lost"]
    assert (seen["lost"] > 0) == (on_full == "drop")


@pytest.mark.parametrize("offering", [0.6, 0.05])
def test_word_of_what_has_expired_goes_with_messages_of_the_other_stream(offering):
    """R is the earlier of two that enter together: S knows what R has pushed out, not the other way round."""
    join, seen = driven(40, offering=offering)
    for side, other in ("rs", "sr"):
        told, ring = 0, join.rings[other]
        for cycle, message in seen["sent"][side]:
            entered = entered_before(seen, other, cycle - 1 if side == "r" else cycle)
            expired = max(0, entered - WINDOWS[other])
            rounds, hops = divmod(expired, CORES)
            hops = CORES - hops if other == "r" else hops
            assert message["expired"] == {"place": ring.nth(rounds), "hops": hops}
            told += message["told"]
            assert told == expired
            # Rows never run out: what has been let in and is not known to have expired finds a place.
            known = sum(back["told"] for at, back in seen["back"][side] if at < cycle)
            assert entered_before(seen, other, cycle) - known <= join.room[other]
        assert told > 20


@pytest.mark.parametrize("outstanding", [None, 16])
def test_punctuations_tell_how_many_arrivals_all_cores_have_handled(outstanding):
    _, seen = driven(40, numbered=True, outstanding=outstanding)
    order = {}
    for number, (cycle, side, one) in enumerate(sorted(seen["accepted"], key=lambda each: each[:2])):
        order[side, one["payload"]] = number
        confirmed = max([0, *(mark for at, mark in seen["left"] if at < cycle)])
        assert outstanding is None or number + 1 - confirmed <= outstanding
    back = {
        order[side, message["tuple"]["payload"]]: cycle
        for side in "rs"
        for cycle, message in seen["back"][side]
        if message["valid"]
    }
    for side in "rs":
        for _, message in seen["sent"][side]:
            if message["valid"]:
                assert message["tuple"]["order"] == order[side, message["tuple"]["payload"]]
    said = [(cycle, message["tuple"]["order"]) for cycle, message in seen["sent"]["r"] if message["punctuates"]]
    assert [mark for _, mark in seen["left"]] == [mark for _, mark in said]
    assert said[-1][1] == len(order) == 80, "the last one, before all is drained, covers all"
    assert len(said) > 4
    for cycle, mark in said:
        assert all(back[number] < cycle for number in range(mark)), "not all of them have ended their expedition"
    for (_, before), (_, after) in pairwise(said):
        assert after > before
    for (left, _), (cycle, _) in zip(seen["left"], said[1:], strict=False):
        assert left < cycle, "one at a time"
