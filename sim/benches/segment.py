"""Bench of both segments, against a deque."""

import random
from collections import deque

import cocotb

from streamjoin.sim.benches.dut import CASES, Dut


class Model:
    """A segment and the plain model of it, side by side; an empty slot is None."""

    def __init__(self, dut: Dut, length: int, indices: int):
        self.dut, self.length, self.indices = dut, length, indices
        self.slots = deque([None] * length, maxlen=length)

    def enter(self) -> None:
        """Let a new slot enter in the coming cycle; one in four is empty."""
        slot = {"key": random.getrandbits(8), "payload": random.getrandbits(12)} if random.random() < 0.75 else None
        self.dut["shift"] = 1
        self.dut.set_slot("entering", slot)
        self.slots.append(slot)

    async def shift(self) -> None:
        self.enter()
        await self.dut.cycle()
        self.dut["shift"] = 0

    async def check_leaving(self) -> None:
        """After a scan or a shift, and one cycle of rest, the oldest slot shows and stays."""
        await self.dut.cycle()
        for _ in range(2):
            await self.dut.settle()
            assert self.dut.slot("leaving") == self.slots[0], "the oldest slot is wrong"
            await self.dut.edge()

    async def check_scan(self, *, shift_in_the_end: bool = False) -> None:
        """A scan sees each slot once, and as it was before a shift in the scan's last cycle."""
        before = list(self.slots)
        seen = []
        self.dut["scan"] = 1
        for index in range(self.indices):
            if self.indices > 1:
                self.dut["index"] = index
            if shift_in_the_end and index == self.indices - 1:
                self.enter()
            await self.dut.cycle()
            # Nothing that is driven now can change what was read in the cycle before.
            seen.append(self.dut.slot("scanned"))
        self.dut["scan"] = self.dut["shift"] = 0
        assert _sorted(seen[: self.length]) == _sorted(before), "the scan does not show each slot once"
        assert seen[self.length :] == [None] * (self.indices - self.length), "there is something beyond the segment"


def _sorted(slots: list[dict[str, int] | None]) -> list[list[tuple[str, int]]]:
    return sorted(sorted((slot or {}).items()) for slot in slots)


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
            await model.check_scan(shift_in_the_end=True)


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
