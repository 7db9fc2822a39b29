"""Bench of admission control, against a plain model of the gate."""

import random

import cocotb

from streamjoin.sim.benches.dut import CASES, Dut
from streamjoin.sim.benches.pairs import PAYLOADS
from streamjoin.sim.benches.streams import STALLS, Source


class InputGate:
    """The model, compared with the gate in every cycle; it also plays the cores, which halt and are busy.

    Attributes
    ----------
    halting
        Whether to halt from time to time.
    busy
        What the cores say.
    dropped, pushed, drained_at
        What has been thrown away, how many empty slots have been pushed, when the gate said that it was drained.
    """

    def __init__(self, dut: Dut, halts: str, *, pace, on_full, drain_stream, drain_steps, start, settle, glance, spans):
        self._dut = dut
        self._pace, self._drops, self._settle, self._glance = pace, on_full == "drop", settle, glance
        self._drain_stream, self._drain_steps = drain_stream, drain_steps
        self._timed = spans is not None
        self._running = STALLS[halts]()
        self._shut = start + 1  # cycles until tuples may enter
        self._draining = False
        self._wait = 0  # cycles of work until the next command may come
        self._expected = {"run": 0, "enter_r": 0, "enter_s": 0, "skip": 0}
        self._slots = {}
        self._was_busy = False
        self._last_command = 0
        self.halting, self.busy = True, True
        self.dropped = self._counted = self.pushed = self._overflows = 0
        self.drained_at: int | None = None
        dut.attach(self)

    def drive(self) -> None:
        self._dut["halt"] = self.halting and not next(self._running)
        self._dut["busy"] = self.busy
        for name in ("moving", "early_r", "early_s"):
            self._dut[name] = random.getrandbits(1)

    def sample(self) -> None:
        dut, halt = self._dut, self._dut["halt"]
        self._check_command()
        taking = not self._shut and not self._draining
        opens = self._wait == 0 and not halt
        discards = self._drops and taking and bool(halt)
        ready = taking and (opens or discards)
        assert dut["i_r__ready"] == dut["i_s__ready"] == ready, f"ready should be {ready} at both inputs"
        assert dut["discarding"] == discards, f"discarding should be {discards}"
        assert dut["dropped"] == self._counted, f"{self._counted} were dropped"
        self._counted = self.dropped
        assert dut["starting"] == (self._shut > 0)
        assert dut["halted"] == (halt and not self._shut), "halted should be up while cores halt, but not at the start"
        assert dut["overflows"] == self._overflows, f"{self._overflows} left too early"
        if self._timed and not self._shut:
            self._overflows += dut["early_r"] + dut["early_s"]
        self._check_drained()

        enters: dict[str, int | None] = {
            side: dut[f"i_{side}__payload"] for side in "rs" if ready and dut[f"i_{side}__valid"]
        }
        if discards:
            self.dropped += len(enters)
            enters = {}
        if self._draining and opens and self.pushed < self._drain_steps:
            skips = self._glance is not None and self.pushed > 0 and not dut["moving"]
            self.pushed += 1
            enters = {self._drain_stream: None}
            self._expect(enters, halt, skips)
            self._wait = max(self._glance or 0, 0 if skips else self._pace[self._drain_stream]) - 1
        else:
            self._expect(enters, halt)
        if dut["drain"] and not self._shut:
            self._draining = True
        self._shut = max(0, self._shut - 1)

    def _expect(self, enters: dict[str, int | None], halt: int, skips: bool = False) -> None:
        """The command of the next cycle, and how long the gate then waits."""
        entering = {f"enter_{side}": int(side in enters) for side in "rs"}
        self._expected = {"run": 1 - halt, **entering, "skip": int(skips)}
        self._slots = {s: None if p is None else self._dut.decode("i_r__payload", p) for s, p in enters.items()}
        if enters:
            self._wait = self._pace["both" if len(enters) == 2 else next(iter(enters))] - 1
            self._last_command = self._dut.cycle_number + 1
        elif self._wait and not halt:
            self._wait -= 1

    def _check_command(self) -> None:
        command = self._dut.decode("command", self._dut["command"])
        assert command == self._expected, f"the command is {command}, should be {self._expected}"
        for side, slot in self._slots.items():
            assert self._dut.slot(side) == slot, f"a wrong tuple of {side}"

    def _check_drained(self) -> None:
        if self._dut["drained"] and self.drained_at is None:
            assert self._draining, "drained without being told to drain"
            assert self.pushed == self._drain_steps, "drained before all was pushed"
            assert self._dut.cycle_number >= self._last_command + self._settle, "drained before it could show"
            assert not self._was_busy, "drained although the cores were busy"
            self.drained_at = self._dut.cycle_number
        assert self._dut["drained"] == (self.drained_at is not None), "drained went down again"
        self._was_busy = self.busy


def _tuples(count: int) -> list[dict[str, int]]:
    return [{"key": random.getrandbits(8), "payload": payload} for payload in PAYLOADS[:count]]


def _longest_step(settings: dict) -> int:
    return max(settings["pace"]["both"], settings["glance"] or 0)


@cocotb.test
@cocotb.parametrize(case=list(CASES), source=list(STALLS), halts=["none", "random", "bursty"])
async def follows_the_model(top, case, source, halts):
    """Tuples enter at the pace, stop for halts, are dropped where they may be; then the gate drains."""
    dut, settings = Dut(top, case), CASES[case]
    await dut.reset()
    sources = [Source(dut, f"i_{side}", _tuples(60), source) for side in "rs"]
    gate = InputGate(dut, halts, **settings)
    await dut.until(lambda: all(source.done for source in sources), within=10_000)
    assert (gate.dropped > 0) == (settings["on_full"] == "drop" and halts != "none")

    dut["drain"] = 1
    await dut.cycles(100 + 10 * settings["drain_steps"] * _longest_step(settings))
    assert gate.pushed == settings["drain_steps"]
    assert gate.drained_at is None
    gate.busy = gate.halting = False
    await dut.until(lambda: gate.drained_at is not None, within=settings["settle"] + 5)
    await dut.cycles(20)


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def settles_before_it_is_drained(top, case):
    """Cores that are not busy yet do not make it drained."""
    dut, settings = Dut(top, case), CASES[case]
    await dut.reset()
    Source(dut, "i_r", _tuples(3))
    gate = InputGate(dut, "none", **settings)
    gate.busy = False
    await dut.cycles(30)
    dut["drain"] = 1
    await dut.until(
        lambda: gate.drained_at is not None,
        within=(settings["drain_steps"] + 1) * _longest_step(settings) + settings["settle"] + 5,
    )


@cocotb.test
@cocotb.parametrize(case=list(CASES), drained=[False, True])
async def takes_tuples_again_after_a_reset(top, case, drained):
    dut, settings = Dut(top, case), CASES[case]
    await dut.reset()
    Source(dut, "i_s", _tuples(20))
    gate = InputGate(dut, "random", **settings)
    gate.busy = False
    await dut.cycles(33)
    if drained:
        dut["drain"] = 1
        await dut.until(lambda: gate.drained_at is not None, within=1_000)
    await dut.reset(cycles=1)
    sources = [Source(dut, f"i_{side}", _tuples(20), "random") for side in "rs"]
    InputGate(dut, "random", **settings)
    await dut.until(lambda: all(source.done for source in sources), within=2_000)
    await dut.cycles(10)
