"""Bench of the gate of the chains of messages, against a plain model of it."""

import random
from collections import deque

import cocotb

from streamjoin.sim.benches import spread
from streamjoin.sim.benches.dut import CASES, Dut
from streamjoin.sim.benches.pairs import PAYLOADS, Tuple
from streamjoin.sim.benches.streams import STALLS, Source

_TIME_WIDTH = 32


class Model:
    """The model, compared with the gate in every cycle; it also plays the chain behind it.

    Attributes
    ----------
    blocked, waiting
        There is no room, and there is something to wait for, in every cycle; otherwise from time to time.
    moving
        What the chain says.
    entered, dropped, drained_at
        How many tuples have, and in which cycle the gate said that it was drained.
    """

    def __init__(self, dut: Dut, room: str, wait: str, *, windows, on_full, start, settle, longest_wait, spans):
        self._dut = dut
        self._room, self._goes = STALLS[room](), STALLS[wait]()
        self._windows, self._drops = dict(zip("rs", windows, strict=True)), on_full == "drop"
        self._spans = dict(zip("rs", spans or (None, None), strict=True))
        self._settle, self._longest_wait = settle, longest_wait
        self._live: dict[str, deque[Tuple]] = {"r": deque(), "s": deque()}
        self._shut = start + 1  # cycles until tuples may enter
        self._draining = False
        self._quiet = self._waited = 0
        # What counters show is some cycles old.
        self._dropped, self._overflows = deque([0, 0]), deque([0, 0])
        self.blocked = self.waiting = False
        self.moving = True
        self.entered = self.dropped = self._early = 0
        self.drained_at: int | None = None
        dut.attach(self)

    def drive(self) -> None:
        self._dut["room"] = next(self._room) and not self.blocked
        self._dut["wait"] = not next(self._goes) or self.waiting
        self._dut["moving"] = self.moving

    def sample(self) -> None:
        dut = self._dut
        room, wait = bool(dut["room"]), bool(dut["wait"])
        taking = not self._shut and not self._draining
        halted = taking and (not room or (wait and self._waited >= self._longest_wait))
        admits = taking and room and not wait
        discards = self._drops and halted
        for name, right in (
            ("i_r__ready", admits or discards),
            ("i_s__ready", admits or discards),
            ("halted", halted),
            ("discarding", discards),
            ("starting", self._shut > 0),
            ("draining", self._draining),
            ("dropped", self._dropped.popleft()),
            ("overflows", self._overflows.popleft()),
        ):
            assert dut[name] == right, f"{name} should be {int(right)}"
        for side in "rs":
            self._check_side(side, admits, discards)
        self._dropped.append(self.dropped)
        self._overflows.append(self._early)
        self._check_drained()
        self._waited = self._waited + 1 if wait else 0
        self._quiet = 0 if dut["moving"] or not self._draining else self._quiet + 1
        if dut["drain"] and not self._shut:
            self._draining = True
        self._shut = max(0, self._shut - 1)

    def _check_side(self, side: str, admits: bool, discards: bool) -> None:
        dut, live = self._dut, self._live[side]
        valid = dut[f"i_{side}__valid"]
        full = len(live) == self._windows[side]
        assert dut[f"enter_{side}"] == (admits and valid), f"enter_{side} is wrong"
        assert dut[f"full_{side}"] == full, f"full_{side} is wrong with {len(live)} tuples"
        if admits and valid:
            tuple_ = dut.decode(f"i_{side}__payload", dut[f"i_{side}__payload"])
            live.append(tuple_)
            self.entered += 1
            if full:
                old = live.popleft()
                span = self._spans[side]
                self._early += span is not None and tuple_["time"] - old["time"] < span
        self.dropped += discards and valid

    def _check_drained(self) -> None:
        if self._dut["drained"] and self.drained_at is None:
            assert self._draining, "drained without being told to drain"
            assert self._quiet > self._settle, "drained although something moved"
            self.drained_at = self._dut.cycle_number
        assert self._dut["drained"] == (self.drained_at is not None), "drained went down again"
        assert self.drained_at is not None or self._quiet <= self._settle, "not drained although nothing moves"


def _tuples(case: str, count: int) -> list[Tuple]:
    tuples = [{"key": random.getrandbits(8), "payload": payload} for payload in PAYLOADS[:count]]
    if CASES[case]["spans"] is None:
        return tuples
    times = spread.times(random, random.choices((0, 1, 1, 2, 3, 5), k=count), _TIME_WIDTH)
    return [{**tuple_, "time": time} for tuple_, time in zip(tuples, times, strict=True)]


@cocotb.test
@cocotb.parametrize(case=list(CASES), source=list(STALLS), room=["none", "bursty", "blocks"], wait=["none", "bursty"])
async def follows_the_model(top, case, source, room, wait):
    """Tuples enter while there is room, are dropped where they may be; then the gate drains."""
    dut = Dut(top, case)
    await dut.reset()
    sources = [Source(dut, f"i_{side}", _tuples(case, 60), source) for side in "rs"]
    model = Model(dut, room, wait, **CASES[case])
    await dut.until(lambda: all(source.done for source in sources), within=5_000)
    assert model.entered + model.dropped == 120
    dut["drain"] = 1
    await dut.cycle()
    Source(dut, "i_r", _tuples(case, 1))
    await dut.cycles(CASES[case]["settle"] + 10)
    assert model.drained_at is None
    model.moving = False
    await dut.cycles(2)
    model.moving = True
    await dut.cycles(2)
    model.moving = False
    await dut.cycles(CASES[case]["settle"] + 10)
    assert model.drained_at is not None
    assert model.entered + model.dropped == 120, "a tuple entered while it was drained"


@cocotb.test
@cocotb.parametrize(case=list(CASES), what=["blocked", "waiting"])
async def is_halted_when_nothing_may_enter_for_long(top, case, what):
    """Whatever the reason is; where tuples may be dropped, they are."""
    dut = Dut(top, case)
    await dut.reset()
    sources = [Source(dut, f"i_{side}", _tuples(case, 40)) for side in "rs"]
    model = Model(dut, "none", "none", **CASES[case])
    await dut.cycles(CASES[case]["start"] + 10)
    setattr(model, what, True)
    await dut.cycles(CASES[case]["longest_wait"] + 5)
    assert dut["halted"]
    assert (model.dropped > 0) == (CASES[case]["on_full"] == "drop")
    setattr(model, what, False)
    await dut.until(lambda: all(source.done for source in sources), within=200)


@cocotb.test
@cocotb.parametrize(case=list(CASES), drained=[False, True])
async def takes_tuples_again_after_a_reset(top, case, drained):
    dut = Dut(top, case)
    await dut.reset()
    Source(dut, "i_s", _tuples(case, 20))
    model = Model(dut, "random", "random", **CASES[case])
    model.moving = False
    await dut.cycles(33)
    if drained:
        dut["drain"] = 1
        await dut.until(lambda: model.drained_at is not None, within=100)
    await dut.reset(cycles=1)
    sources = [Source(dut, f"i_{side}", _tuples(case, 20), "random") for side in "rs"]
    Model(dut, "random", "random", **CASES[case])
    await dut.until(lambda: all(source.done for source in sources), within=1_000)
    await dut.cycles(10)
