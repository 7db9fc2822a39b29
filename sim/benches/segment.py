"""Bench of both segments, against a deque."""

import random
from collections import deque

import cocotb

from streamjoin.sim.benches.dut import CASES, Dut


class Model:
    """A segment and the plain model of it, side by side; an empty slot is None."""

    def __init__(self, dut: Dut, length: int):
        self.dut, self.length = dut, length
        self.slots: deque[dict[str, int] | None] = deque([None] * length, maxlen=length)

    async def shift(self) -> None:
        """Let a new slot enter; one in four is empty."""
        slot = {"key": random.getrandbits(8), "payload": random.getrandbits(12)} if random.random() < 0.75 else None
        self.slots.append(slot)
        self.dut.set_slot("entering", slot)
        self.dut["step"] = self.dut["write"] = 1
        await self.dut.cycle()
        self.dut["step"] = self.dut["write"] = 0

    async def check_leaving(self) -> None:
        """After a step, and one cycle of rest, the oldest slot shows and stays."""
        await self.dut.cycle()
        for _ in range(2):
            await self.dut.settle()
            assert self.dut.slot("leaving") == self.slots[0], "the oldest slot is wrong"
            await self.dut.edge()

    async def check_scan(self, pauses: float = 0.0) -> None:
        """A scan shows each slot once, the oldest first, however long it rests between two of them."""
        for slot in self.slots:
            while random.random() < pauses:
                await self.dut.cycle()
            self.dut["step"] = 1
            await self.dut.cycle()
            self.dut["step"] = 0
            # Nothing that is driven now can change what was shown in the cycle before.
            assert self.dut.slot("scanned") == slot, "the scan does not show each slot in its turn"


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def holds_the_last_slots(top, case):
    dut = Dut(top, case)
    await dut.reset()
    model = Model(dut, **CASES[case])
    await model.check_scan()
    for _ in range(4 * model.length + 4):
        await model.shift()
        await model.check_leaving()
        await model.check_scan()
        await model.check_leaving()


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def follows_any_order_of_operations(top, case):
    dut = Dut(top, case)
    await dut.reset()
    model = Model(dut, **CASES[case])
    for _ in range(200):
        operation = random.choice((model.shift, model.shift, model.check_leaving, model.check_scan))
        await operation()
        if random.random() < 0.2:
            await model.check_scan(pauses=0.5)


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def is_empty_after_a_reset(top, case):
    """Whether the ring had been round or not, and wherever it stood."""
    dut = Dut(top, case)
    for shifts in range(2 * CASES[case]["length"] + 1):
        await dut.reset(cycles=1)
        model = Model(dut, **CASES[case])
        await model.check_scan()
        await model.check_leaving()
        for _ in range(shifts):
            await model.shift()
        await model.check_scan()
