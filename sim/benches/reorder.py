"""Bench of the part that puts results in order, against a sort."""

import random
from collections import deque

import cocotb

from streamjoin.sim.benches.dut import CASES, Dut
from streamjoin.sim.benches.pairs import Tuple
from streamjoin.sim.benches.streams import STALLS, Sink


class Cores:
    """Give items in their order, but none of an arrival that could not have been let in yet.

    In every cycle ``busy`` must tell whether there is a punctuation inside.

    Attributes
    ----------
    done
        All have been taken.
    """

    def __init__(self, dut: Dut, items: list[Tuple], arrivals: int, source: str = "none", sink: str = "none"):
        self._dut = dut
        self._items = items
        self._arrivals = arrivals
        self._willing = STALLS[source]()
        self._offers = False
        self._taken = 0
        dut.attach(self)
        self.out = Sink(dut, "o", sink)

    @property
    def done(self) -> bool:
        return self._taken == len(self._items)

    def drive(self) -> None:
        if not self._offers and not self.done and next(self._willing) and self._may_arrive(self._items[self._taken]):
            self._offers = True
            self._dut["i__payload"] = self._items[self._taken]
        self._dut["i__valid"] = self._offers

    def _may_arrive(self, item: Tuple) -> bool:
        """Whether few enough arrivals before this one are without a punctuation that has left."""
        covered = next((left["order"] for left in reversed(self.out.items) if left["mark"]), 0)
        return item["order"] < covered + self._arrivals + item["mark"]

    def sample(self) -> None:
        coming, left = (sum(item["mark"] for item in items) for items in (self._items[: self._taken], self.out.items))
        assert self._dut["busy"] == (coming > left), f"busy is wrong with {coming - left} punctuations inside"
        if self._offers and self._dut["i__ready"]:
            self._offers = False
            self._taken += 1

    async def finish(self, within: int) -> None:
        """Run to the end: then all has come, in order, and results of one arrival as they went in."""
        await self._dut.until(lambda: len(self.out.items) >= len(self._items), within=within)
        await self._dut.cycles(10)
        expected = sorted(self._items, key=lambda item: (item["order"], -item["mark"]))
        came = [{"order": item["order"], "mark": 1} if item["mark"] else item for item in self.out.items]
        assert came == expected


def some_items(arrivals: int, *, room: int, most: int) -> list[Tuple]:
    """Results of so many arrivals, and punctuations, as mixed up as they may be."""
    coming = deque(order for order in range(arrivals) for _ in range(random.choice((0, 0, 1, most))))
    items, waiting, covered = [], [], 0
    while covered < arrivals:
        end = min(arrivals, covered + room)
        while coming and coming[0] < end:
            waiting.append(_result(coming.popleft()))
        target = random.randint(covered + 1, end)
        random.shuffle(waiting)
        goes = [item["order"] < target or random.random() < 0.5 for item in waiting]
        items += [item for item, now in zip(waiting, goes, strict=True) if now]
        items.append(_punctuation(target))
        waiting = [item for item, now in zip(waiting, goes, strict=True) if not now]
        covered = target
    return items


def _result(order: int) -> Tuple:
    fields = {"key": random.getrandbits(8), "payload_r": random.getrandbits(12), "payload_s": random.getrandbits(12)}
    return {**fields, "order": order, "mark": 0}


def _punctuation(order: int) -> Tuple:
    return {"order": order, "mark": 1}


@cocotb.test
@cocotb.parametrize(case=list(CASES), source=list(STALLS), sink=["none", "random", "blocks"])
async def puts_results_in_order(top, case, source, sink):
    dut, room = Dut(top, case), CASES[case]["arrivals"]
    await dut.reset()
    items = some_items(60 + 2 * room, room=room, most=CASES[case]["most"])
    await Cores(dut, items, room, source, sink).finish(within=20_000)


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def has_places_for_all_results(top, case):
    """Every arrival has as many as it can have, and none leaves; then one a cycle does, with one between arrivals."""
    dut, room, most = Dut(top, case), CASES[case]["arrivals"], CASES[case]["most"]
    await dut.reset()
    results = [_result(order) for order in range(room) for _ in range(most)]
    random.shuffle(results)
    cores = Cores(dut, [*results, _punctuation(room)], room)
    cores.out.blocked = True
    await dut.until(lambda: cores.done, within=room + len(results) + 5)
    await dut.cycles(20)
    cores.out.blocked = False
    await cores.finish(within=2 * len(results) + room + 30)
    assert cores.out.taken[-1] - cores.out.taken[0] <= room * (most + 1)


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def forgets_on_reset(top, case):
    """Also results that no punctuation had covered."""
    dut, room, most = Dut(top, case), CASES[case]["arrivals"], CASES[case]["most"]
    for cycles in (1, room, room + 3, 2 * room + 9, 3 * room + 40):
        await dut.reset(cycles=1)
        Cores(dut, some_items(4 * room, room=room, most=most), room, sink="random")
        await dut.cycles(cycles)
    await dut.reset(cycles=1)
    await Cores(dut, some_items(4 * room, room=room, most=most), room, "random", "random").finish(within=5_000)
