"""The run lifecycle against plain Python, cycle by cycle."""

import random

import pytest
from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator

from streamjoin.hdl.lib.run_lifecycle import RunLifecycle

INPUTS = ("drain", "pushed", "moving")
STATES = ("starting", "taking", "pushing", "draining", "drained")


class Model:
    """What the states are in each cycle, given what came in the cycles before."""

    def __init__(self, start: int, settle: int, pushes: bool):
        self._settle, self._pushes = settle, pushes
        self._left = start
        self.state = "START"

    @property
    def shown(self) -> set[str]:
        return {
            "START": {"starting"},
            "TAKE": {"taking"},
            "PUSH": {"pushing", "draining"},
            "SETTLE": {"draining"},
            "DRAINED": {"draining", "drained"},
        }[self.state]

    def step(self, drain: int, pushed: int, moving: int) -> None:
        if self.state == "START":
            self.state = "START" if self._left else "TAKE"
            self._left -= 1
        elif self.state == "TAKE" and drain:
            self.state, self._left = "PUSH" if self._pushes else "SETTLE", self._settle
        elif self.state == "PUSH" and pushed:
            self.state = "SETTLE"
        elif self.state == "SETTLE":
            if moving and not self._pushes:
                self._left = self._settle
            elif self._left:
                self._left -= 1
            elif not moving:
                self.state = "DRAINED"


@pytest.mark.parametrize("pushes", [False, True])
@pytest.mark.parametrize(("start", "settle"), [(0, 0), (1, 4), (5, 2)])
def test_states_follow_each_other_in_the_right_cycles(start, settle, pushes):
    dut = RunLifecycle(start=start, settle=settle, pushes=pushes)
    drained = []

    async def bench(ctx):
        for seed in range(30):
            rng, model = random.Random(seed), Model(start, settle, pushes)
            likely = {name: rng.choice((0.05, 0.5, 0.9)) for name in INPUTS}
            for _ in range(rng.choice((8, 150))):
                given = {name: int(rng.random() < likely[name]) for name in INPUTS}
                for name, value in given.items():
                    ctx.set(getattr(dut, name), value)
                assert {name for name in STATES if ctx.get(getattr(dut, name))} == model.shown
                model.step(**given)
                await ctx.tick()
            drained.append(model.state == "DRAINED")
            # Wherever the run was, a reset begins the next one.
            ctx.set(reset, 1)
            await ctx.tick()
            ctx.set(reset, 0)

    reset = Signal()
    simulator = Simulator(ResetInserter(reset)(dut))
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert any(drained)
    assert not all(drained)
