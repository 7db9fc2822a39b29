"""Early leavers: how many tuples of each transfer push out one whose time is not up."""

import random
from collections import deque

import pytest

from streamjoin.hdl.hash.early_leavers import EarlyLeavers
from tests.hdl.stream_bench import stepped

TIME_WIDTH, SPAN = 10, 40
#: Cycles until a transfer's count shows.
LATENCY = 4


def expected(transfers, window):
    """For each list of times how many tuples leave too soon."""
    inside: deque[int] = deque()
    for times in transfers:
        early = 0
        for time in times:
            inside.append(time)
            if len(inside) > window:
                early += (time - inside.popleft()) % (1 << TIME_WIDTH) < SPAN
        yield early


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("window", [1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 20])
def test_those_who_leave_too_soon_are_counted(width, window):
    """Any number in a transfer, none among them; at times none comes for a while. What does not count is anything."""
    rng, now = random.Random(width * 100 + window), 0
    transfers, steps = [], []
    for _ in range(500):
        enters, count = rng.random() < 0.8, rng.choice((rng.randint(0, width), width))
        times = []
        for _ in range(count if enters else 0):
            now += rng.choice((0, 0, 1, SPAN // window, 2 * SPAN // window, 2 * SPAN // window + 1))
            times.append(now)
        transfers.append(times)
        shown = [*times, *(rng.getrandbits(TIME_WIDTH) for _ in range(width - len(times)))]
        shown = [time % (1 << TIME_WIDTH) for time in shown]
        steps.append({"enters": enters, "count": count, "times": shown})
    idle = {"enters": 0, "count": width, "times": [0] * width}
    early = stepped(EarlyLeavers(width, window, SPAN, TIME_WIDTH), [*steps, *[idle] * LATENCY], ["early"])
    found = [count for (count,) in early]
    right = list(expected(transfers, window))
    assert found[LATENCY:] == right
    assert not any(found[:LATENCY])
    assert 30 < sum(right) < sum(map(len, transfers)) - window - 30
