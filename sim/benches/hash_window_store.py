"""Bench of the hash window store: a walk shows each tuple of its key that counts once, whatever its memories hold."""

import random
from collections import Counter

import cocotb

from streamjoin.hdl.lib.ring import LappedRing
from streamjoin.sim.benches.dut import CASES, Dut
from streamjoin.sim.benches.pairs import PAYLOADS, Tuple
from streamjoin.sim.benches.streams import STALLS


class Model:
    """The model: a list of all that was ever stored, and where those begin that count."""

    def __init__(self, dut: Dut, rows: int, buckets: int, go: str = "none", keys: list[int] | None = None):
        self._dut, self._rows = dut, rows
        self._place = LappedRing(1, rows).nth
        self._go = STALLS[go]()
        self._goes_on = go == "none"
        self._holds = 0  # cycles for which the tuple of a walk is still needed
        self._tuples: list[Tuple] = []
        self._oldest = 0
        self._shown: list[tuple[Tuple, Tuple]] = []
        self._keys = keys or [random.getrandbits(8) for _ in range(2 * buckets + 3)]
        dut.attach(self)

    def drive(self) -> None:
        self._dut["go"], self._dut["hold"] = next(self._go) and not self._holds, self._holds > 0

    def sample(self) -> None:
        dut = self._dut
        assert not (dut["hold"] and dut["ready"]), "ready although a tuple is still needed"
        self._holds = max(0, self._holds - 1)
        if dut["mask"]:
            probe, resting = (dut.decode(port, dut[port]) for port in ("probe", "resting__0"))
            self._shown.append((probe, resting))

    @property
    def key(self) -> int:
        """One of a few keys, some of them far more often than others; so some are not seen for long."""
        return self._keys[int(len(self._keys) * random.random() ** 3)]

    async def store(self, key: int) -> None:
        """Store a tuple; if all places are taken, the oldest goes."""
        if len(self._tuples) - self._oldest == self._rows:
            self._oldest += 1
        tuple_ = {"key": key, "payload": PAYLOADS[len(self._tuples)]}
        free = self._dut.decode("free", self._dut["free"])
        assert free == self._place(len(self._tuples)), "a wrong place is free"
        self._tuples.append(tuple_)
        cycles = await self._ask("store", tuple_)
        assert cycles == 4, f"storing took {cycles} cycles"

    async def walk(self, key: int) -> None:
        """Walk along all that counts, or some of it."""
        first, end = self._oldest, len(self._tuples)
        if random.random() < 0.5:
            first, end = sorted(random.choices(range(first, end + 1), k=2))
        probe = {"key": key, "payload": random.choice(PAYLOADS)}
        self._dut["first"], self._dut["end"] = self._place(first), self._place(end)
        self._shown.clear()
        holds = random.choice((0, 0, 9))
        cycles = await self._ask("begin", probe, holds)
        assert self._dut.decode("probe", self._dut["probe"]) == probe, "not the tuple of the walk"
        assert not self._dut["busy"], "busy after the walk"
        probes, shown = ([pair[n] for pair in self._shown] for n in (0, 1))
        assert all(seen == probe for seen in probes), "not the tuple that the walk was for"
        counting = self._tuples[first:end]
        times = Counter(tuple_["payload"] for tuple_ in shown)
        assert max(times.values(), default=1) == 1, "a tuple was shown twice"
        assert all(tuple_ in counting for tuple_ in shown), "a tuple was shown that does not count"
        same = [tuple_ for tuple_ in reversed(counting) if tuple_["key"] == key]
        assert [tuple_ for tuple_ in shown if tuple_["key"] == key] == same, "a tuple of the key is missing"
        if self._goes_on and not holds:
            least, most = 4 + 2 * len(shown), 4 + 2 * (len(self._tuples) - first)
            assert least <= cycles <= most, f"a walk along {len(counting)} tuples took {cycles} cycles"

    def expire(self) -> None:
        """Some of the oldest no longer count."""
        self._oldest = random.randint(self._oldest, len(self._tuples))

    async def leave_unfinished(self, cycles: int) -> None:
        """Begin with something, and look at it for so many cycles."""
        self._dut["tuple"] = {"key": self.key}
        self._dut["first"], self._dut["end"] = self._place(self._oldest), self._place(len(self._tuples))
        self._dut[random.choice(("begin", "store"))] = 1
        await self._dut.cycles(cycles)

    async def mix(self, operations: int) -> None:
        """Any order of operations; from time to time all keys but one stay away, or nothing counts any more."""
        alone = None
        for _ in range(operations):
            if random.random() < 0.02:
                alone = random.choice((None, self.key))
            if random.random() < 0.1:
                self.expire()
            if random.random() < 0.6:
                await self.store(self.key if alone is None else alone)
            else:
                await self.walk(self.key)

    async def _ask(self, what: str, tuple_: Tuple, holds: int = 0) -> int:
        """How many cycles it took."""
        dut = self._dut
        assert dut["ready"], "not ready"
        dut["tuple"], dut[what] = tuple_, 1
        await dut.cycle()
        dut[what], before = 0, dut.cycle_number
        self._holds = holds
        await dut.until(lambda: dut["ready"], within=100 * (self._rows + 4))
        return dut.cycle_number - before + 1


async def reset(dut: Dut, case: str, cycles: int = 2) -> None:
    """Reset it, and let it have a cycle for each bucket."""
    await dut.reset(cycles=cycles)
    await dut.cycles(CASES[case]["buckets"])


@cocotb.test
@cocotb.parametrize(case=list(CASES), go=list(STALLS))
async def shows_each_of_the_key_once(top, case, go):
    dut = Dut(top, case)
    await reset(dut, case)
    await Model(dut, **CASES[case], go=go).mix(150)


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def finds_a_key_again_after_any_pause(top, case):
    """A bucket's pointer, and that of a tuple, may come to point at others, a lap or many later."""
    dut, rows = Dut(top, case), CASES[case]["rows"]
    for pause in range(4 * rows + 2):
        await reset(dut, case, cycles=1)
        model = Model(dut, **CASES[case])
        for _ in range(2):
            await model.store(1)
            for stranger in range(pause):
                await model.store(random.choice((2, 3, stranger % 256 | 2)))
            await model.walk(1)
            await model.store(1)
            await model.walk(1)
            await model.walk(2)


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def knows_nothing_of_what_was_before_a_reset(top, case):
    """Whatever it is doing; memories keep what is in them."""
    dut = Dut(top, case)
    await reset(dut, case)
    for cut in range(40):
        model = Model(dut, **CASES[case], keys=list(range(9)))
        await model.mix(random.randrange(12))
        await model.leave_unfinished(1 + cut % 6)
        await reset(dut, case, cycles=1)
