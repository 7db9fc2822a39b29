"""Bench of the queue: order, room, speed, and the promise of ``almost_full``."""

import cocotb

from streamjoin.sim.benches.dut import CASES, Dut
from streamjoin.sim.benches.streams import STALLS, Sink, Source, random_items


class Level:
    """Counts what is inside, behind the exit and at it, and checks in every cycle all that depends on nothing else."""

    def __init__(self, dut: Dut, depth: int, margin: int, trusting: bool):
        self._dut, self._depth, self._margin, self._trusting = dut, depth, margin, trusting
        self.waiting = self.at_exit = 0
        dut.attach(self)

    def drive(self) -> None:
        pass

    def sample(self) -> None:
        dut = self._dut
        room = self._depth - self.waiting
        assert dut["i__ready"] == (room > 0 or self._trusting), f"ready is wrong with room for {room}"
        assert dut["o__valid"] == self.at_exit, "valid is wrong"
        assert dut["almost_full"] == (room <= self._margin), f"almost_full is wrong with room for {room}"
        assert dut["busy"] == (self.waiting + self.at_exit > 0), "busy is wrong"
        leaves = self.at_exit and dut["o__ready"]
        moves_up = self.waiting > 0 and (leaves or not self.at_exit)
        self.at_exit += moves_up - leaves
        self.waiting += (dut["i__valid"] & dut["i__ready"]) - moves_up


def feed(dut: Dut, case: str, items: list[int], stalls: str = "none") -> Source:
    """A source that minds the warning of a queue that trusts it to."""
    return Source(dut, "i", items, stalls, minds="almost_full" if CASES[case]["trusting"] else None)


@cocotb.test
@cocotb.parametrize(case=list(CASES), source=list(STALLS), sink=["none", "random", "blocks"])
async def keeps_order(top, case, source, sink):
    dut = Dut(top, case)
    await dut.reset()
    items = random_items(150)
    feed(dut, case, items, source)
    out = Sink(dut, "o", sink)
    Level(dut, **CASES[case])
    await dut.until(lambda: len(out.items) >= len(items), within=20_000)
    await dut.cycles(5)
    assert out.items == items


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def passes_at_full_speed(top, case):
    dut = Dut(top, case)
    await dut.reset()
    source = feed(dut, case, random_items(50))
    out = Sink(dut, "o")
    await dut.until(lambda: len(out.items) == 50, within=200)
    room = CASES[case]["depth"] - (CASES[case]["margin"] if CASES[case]["trusting"] else 0)
    interval = 1 if room > 1 else 2
    assert out.taken == [2 + interval * n for n in range(50)]
    assert source.taken == [interval * n for n in range(50)]


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def warns_in_time(top, case):
    """A source that never looks at ready, and sends exactly ``margin`` items after the warning, loses nothing."""
    dut = Dut(top, case)
    await dut.reset()
    out = Sink(dut, "o")
    out.blocked = True
    items = random_items(CASES[case]["depth"] + 2)
    sent = after_warning = 0
    while after_warning < CASES[case]["margin"] or not dut["almost_full"]:
        after_warning += dut["almost_full"]
        dut["i__valid"], dut["i__payload"] = 1, items[sent]
        sent += 1
        await dut.cycle()
    dut["i__valid"] = 0
    out.blocked = False
    await dut.cycles(sent + 5)
    assert out.items == items[:sent]


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def forgets_on_reset(top, case):
    dut = Dut(top, case)
    await dut.reset()
    feed(dut, case, random_items(3))
    await dut.cycles(4)
    await dut.reset(cycles=1)
    items = random_items(10)
    feed(dut, case, items)
    out = Sink(dut, "o", "random")
    Level(dut, **CASES[case])
    await dut.until(lambda: len(out.items) >= 10, within=200)
    assert out.items == items
