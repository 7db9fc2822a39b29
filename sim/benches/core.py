"""Bench of a single join core of any kind, against a plain model of its segment."""

import random
from collections import deque
from types import SimpleNamespace

import cocotb

from streamjoin.reference.predicates import parse_predicate
from streamjoin.sim.benches import spread
from streamjoin.sim.benches.dut import CASES, Dut
from streamjoin.sim.benches.pairs import PAYLOADS, Tuple, assert_same, joined
from streamjoin.sim.benches.streams import STALLS, Sink

_KEY_WIDTH = 8


class Segment:
    """The model: both windows as deques of slots, an empty slot being None, and all pairs that have met."""

    def __init__(self, dut: Dut, predicate: str, lengths: dict[str, int]):
        self._dut = dut
        self._holds = parse_predicate(predicate).holds
        self._windows: dict[str, deque[Tuple | None]] = {
            side: deque([None] * length, maxlen=length) for side, length in lengths.items()
        }
        self.leaving = {"r": deque(), "s": deque()}
        self.pairs: list[Tuple] = []

    def enter(self, side: str, slot: Tuple | None) -> None:
        """A slot meets the other window, then takes the place of the oldest of its own."""
        for mate in self._windows["s" if side == "r" else "r"]:
            if slot is not None and mate is not None:
                r, s = (slot, mate) if side == "r" else (mate, slot)
                if self._holds(SimpleNamespace(**r), SimpleNamespace(**s)):
                    self.pairs.append(joined(self._dut, {"r": r, "s": s}))
        self.leaving[side].append(self._windows[side][0])
        self._windows[side].append(slot)


class Commander:
    """Gives commands at the core's pace, and hears of ``full`` as late as a core must bear.

    ``commands`` are dictionaries of what enters: a slot or None for ``r``, ``s`` or both.
    """

    def __init__(self, dut: Dut, case: dict, commands: list[dict], pauses: str):
        self._dut, self._pace = dut, case["pace"]
        self._commands = deque(commands)
        self._willing = STALLS[pauses]()
        self._full = deque([0] * case["reaction"])
        self._wait = 1  # cycles of work until the next command may come; after a reset one to initialise
        self._after = case["latency"] + 1
        self.segment = Segment(dut, case["predicate"], {"r": case["segment_r"], "s": case["segment_s"]})
        self.halts = 0
        dut.attach(self)

    @property
    def done(self) -> bool:
        """The last command has been worked on, and what came of it shows."""
        return self._after == 0

    def drive(self) -> None:
        run = not self._full.popleft()
        self.halts += not run
        entering = {}
        if run and self._wait == 0 and self._commands and next(self._willing):
            entering = self._commands.popleft()
            self._wait = self._pace["both" if len(entering) == 2 else next(iter(entering))]
        self._dut["command"] = {"run": run, **{f"enter_{side}": 1 for side in entering}}
        for side, slot in sorted(entering.items()):  # R before S
            self.segment.enter(side, slot)
            self._dut.set_slot(f"i_{side}", slot)
        if run and self._wait:
            self._wait -= 1
        elif not self._commands and self._wait == 0 and self._after:
            self._after -= 1

    def sample(self) -> None:
        self._full.append(self._dut["full"])
        for side in "rs":
            if self._dut[f"leaves_{side}"]:
                oldest = self.segment.leaving[side].popleft()
                assert self._dut.slot(f"o_{side}") == oldest, f"the {side} tuple that leaves is not the oldest"


def _commands(case: str, count: int) -> list[dict]:
    """Any mixture of R, S and both; one slot in six is empty."""
    keys = spread.keys(random, _KEY_WIDTH, parse_predicate(CASES[case]["predicate"]))

    def slot(number: int) -> Tuple | None:
        return {"key": random.choice(keys), "payload": PAYLOADS[number]} if random.random() < 5 / 6 else None

    sides = random.choices(("r", "s", "rs"), (1, 1, 2), k=count)
    return [{side: slot(2 * number + (side == "s")) for side in both} for number, both in enumerate(sides)]


def _matching_commands(case: str, count: int) -> list[dict]:
    """R and S together in every command, and every pair matches."""
    r, s = {"equi": (7, 7), "band:1": (7, 8), "lt": (7, 8)}[CASES[case]["predicate"]]
    return [{"r": {"key": r, "payload": payload}, "s": {"key": s, "payload": payload}} for payload in PAYLOADS[:count]]


async def _run(dut: Dut, case: dict, commands: list[dict], pauses: str, sink: str) -> Commander:
    commander = Commander(dut, case, commands, pauses)
    await _finish(dut, commander, Sink(dut, "o_result", sink))
    return commander


async def _finish(dut: Dut, commander: Commander, out: Sink) -> None:
    """Run until the core is no longer busy: then all pairs must have come, each once."""
    await dut.until(lambda: commander.done and not dut["busy"], within=50_000)
    assert_same(out.items, commander.segment.pairs)
    assert not any(commander.segment.leaving.values()), "a tuple has not left"
    await dut.cycles(20)
    assert len(out.items) == len(commander.segment.pairs), "results after the core was no longer busy"


@cocotb.test
@cocotb.parametrize(
    ("case", list(CASES)),
    (("pauses", "sink"), [("none", "none"), ("none", "blocks"), ("random", "random"), ("bursty", "bursty")]),
)
async def finds_every_pair_once(top, case, pauses, sink):
    dut = Dut(top, case)
    await dut.reset()
    await _run(dut, CASES[case], _commands(case, 70), pauses, sink)


@cocotb.test
@cocotb.parametrize(case=list(CASES), sink=["one_in_n", "blocks"])
async def asks_for_a_halt_in_time(top, case, sink):
    """Every pair matches, far more than the output takes: full must go up, and early enough."""
    dut = Dut(top, case)
    await dut.reset()
    commander = await _run(dut, CASES[case], _matching_commands(case, 30), "none", sink)
    assert commander.halts > 0 or sink != "blocks", "full never went up"


@cocotb.test
@cocotb.parametrize(case=list(CASES), matching=[2, 5])
async def keeps_what_waits(top, case, matching):
    """Some pairs wait for a blocked output while many tuples without a match pass by."""
    dut = Dut(top, case)
    await dut.reset()
    strangers = [{"r": {"key": 200, "payload": 0}, "s": {"key": 100, "payload": 0}}] * 40
    commander = Commander(dut, CASES[case], _matching_commands(case, matching) + strangers, "none")
    out = Sink(dut, "o_result")
    out.blocked = True
    await dut.cycles(300)
    out.blocked = False
    await _finish(dut, commander, out)


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def is_empty_after_a_reset(top, case):
    dut = Dut(top, case)
    for cycles in (7, 20, 61):
        await dut.reset()
        Commander(dut, CASES[case], _commands(case, 100), "none")
        await dut.cycles(cycles)
    await dut.reset(cycles=1)
    await _run(dut, CASES[case], _commands(case, 40), "random", "random")
