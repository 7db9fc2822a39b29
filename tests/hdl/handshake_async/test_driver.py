"""The driver of an asynchronous handshake join: which messages go into both ends of the chain, and when a run ends."""

import random
from collections import deque

import pytest

from streamjoin.hdl.handshake_async.driver import HandoverDriver
from tests.hdl.handshake_async.handovers import handover
from tests.hdl.stream_bench import plain, run

START, SETTLE = 3, 5
WINDOWS = (4, 3)


def driven(count, *, on_full, stall, seed=1):
    """Offer so many tuples to a chain that has room from time to time, drain, and note all that happens, by cycle."""
    rng = random.Random(seed)
    join = handover(windows=WINDOWS)
    driver = HandoverDriver(join, on_full=on_full, start=START, settle=SETTLE)
    ports = {"r": driver.i_r, "s": driver.i_s}
    events = {"accepted": [], "messages": [], "lost": 0}

    async def bench(ctx):
        waiting = {side: deque({"key": n % 16, "payload": n} for n in range(count)) for side in "rs"}
        offered, rooms, busy_until = dict.fromkeys("rs"), [(0, 0, 0)] * 3, 0
        for cycle in range(3000):
            for side, port in ports.items():
                if offered[side] is None and waiting[side] and rng.random() < 0.5:
                    offered[side] = waiting[side].popleft()
                    ctx.set(port.p, offered[side])
                ctx.set(port.valid, offered[side] is not None)
            room = [int(rng.random() >= stall) for _ in range(2)]
            load = [rng.choice((0, join.rooms[side])) if rng.random() < stall else 0 for side in "rs"]
            for channel, up, many in ((driver.to_right, room[0], load[0]), (driver.to_left, room[1], load[1])):
                ctx.set(channel.room, up)
                ctx.set(channel.load, many)
            is_open = load[0] < join.rooms["r"] and load[1] < join.rooms["s"]
            over = not any(waiting.values()) and not any(offered.values())
            ctx.set(driver.drain, over)
            busy = int(cycle < busy_until)
            ctx.set(driver.busy, busy)
            signals = [driver.i_r.ready, driver.i_s.ready, driver.discarding, driver.drained, driver.starting]
            signals += [driver.to_right.valid, driver.to_right.message, driver.to_left.valid, driver.to_left.message]
            _, _, ready_r, ready_s, discarding, drained, starting, *told = await ctx.tick().sample(*signals)
            assert ready_r == ready_s
            assert not (starting and ready_r)
            for side in "rs":
                if offered[side] is not None and ready_r:
                    if discarding:
                        events["lost"] += 1
                    else:
                        # What is known of the ends of the chain is a cycle old.
                        assert rooms[-1] == (1, 1, True), "let in without room"
                        events["accepted"].append((cycle, side, offered[side]))
                    offered[side] = None
            rooms.append((*room, is_open))
            for name, valid, message in (("to_right", *told[:2]), ("to_left", *told[2:])):
                if valid:
                    events["messages"].append((cycle, name, plain(message)))
                    busy_until = cycle + 20
            if drained:
                assert not busy, "drained while something is under way"
                events["drained"] = cycle
                events["dropped"] = ctx.get(driver.dropped)
                return

    run(driver, bench)
    return events


@pytest.mark.parametrize(("on_full", "stall"), [("stall", 0.0), ("stall", 0.4), ("drop", 0.2)])
def test_messages_of_all_that_enters_and_goes(on_full, stall):
    events = driven(40, on_full=on_full, stall=stall)
    accepted, messages = events["accepted"], events["messages"]
    expected, entered = [], {"r": 0, "s": 0}
    for cycle in sorted({cycle for cycle, _, _ in accepted}):
        now = {side: one for at, side, one in accepted if at == cycle}
        pushed = {side: side in now and entered[side] >= WINDOWS["rs".index(side)] for side in "rs"}
        for side, other, name in (("r", "s", "to_right"), ("s", "r", "to_left")):
            if side in now or pushed[other]:
                expected.append((cycle + 1, name, now.get(side), int(pushed[other])))
        for side in now:
            entered[side] += 1
    found = [
        (cycle, name, message["tuple"] if message["enters"] else None, message["removes"])
        for cycle, name, message in messages
    ]
    assert found[: len(expected)] == expected, "a cycle after a tuple was let in, its message goes"
    assert min(entered.values()) > 10
    # A drain removes what is left of R, and nothing else.
    left = min(WINDOWS[0], entered["r"])
    assert [message[1:] for message in found[len(expected) :]] == [("to_left", None, 1)] * left
    assert events["drained"] - found[-1][0] >= 20 + SETTLE
    assert events["dropped"] == events["lost"]
    assert (events["lost"] > 0) == (on_full == "drop")
