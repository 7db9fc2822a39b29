"""Bench of the window store, against a list of what was stored: it walks and fetches in every cycle where it may."""

import random
from collections import deque
from dataclasses import dataclass, field

import cocotb

from streamjoin.hdl.lib.ring import LappedRing
from streamjoin.sim.benches.dut import CASES, Dut
from streamjoin.sim.benches.pairs import PAYLOADS, Tuple
from streamjoin.sim.benches.streams import STALLS


@dataclass
class Row:
    """What is to be shown in one cycle: the tuple of a walk, if it counts, and what rests in each lane that does."""

    probe: Tuple = field(default_factory=dict)
    resting: dict[int, Tuple] = field(default_factory=dict)

    @property
    def mask(self) -> int:
        return sum(1 << lane for lane in self.resting)


class Model:
    """The model, compared with the store in every cycle; it also decides what to store, to walk along and to fetch.

    Attributes
    ----------
    walks, fetches
        How many have begun.
    """

    def __init__(self, dut: Dut, go: str, *, lanes: int, rows: int, latency: int, fetching: float):
        self._dut = dut
        self._go = STALLS[go]()
        self._lanes, self._rows, self._latency = lanes, rows, latency
        self._place = LappedRing(lanes, rows).nth
        self._share_of_fetches = fetching
        self._tuples: list[Tuple] = []  # all that were ever stored
        self._oldest = 0  # of those that count
        self._walk: deque[Row] = deque()
        self._shown = deque([Row()] * latency)
        self._fetched: deque[Tuple | None] = deque([None] * (latency + 1))
        self._step = self._hold = False
        self._holds = 0  # cycles for which the tuple of the last walk is still needed
        self._probe: Tuple = {}
        self._begins: deque[Row] | None = None
        self._stores: Tuple | None = None
        self._wants: Tuple | None = None
        self.walks = self.fetches = 0
        dut.attach(self)

    def drive(self) -> None:
        self._hold = self._holds > 0
        go = next(self._go) and not self._hold
        self._step = bool(self._walk) and go and self._fetched[-1] is None
        self._begins = self._stores = self._wants = None
        self._dut["go"], self._dut["hold"] = go, self._hold
        self._dut["tuple"] = tuple_ = {"key": random.getrandbits(8), "payload": PAYLOADS[len(self._tuples)]}
        if self._ready:
            action = random.choice(("begin", "store", "store", "rest"))
            if action == "begin":
                self._begin(tuple_)
            elif action == "store" and self._has_room():
                self._stores = tuple_
        self._dut["begin"] = self._begins is not None
        self._dut["store"] = self._stores is not None
        if self._oldest < len(self._tuples) and random.random() < self._share_of_fetches:
            wanted = random.randrange(self._oldest, len(self._tuples))
            self._wants = self._tuples[wanted]
            self._dut["wanted"] = self._place(wanted)
            self.fetches += 1
        self._dut["fetch"] = self._wants is not None

    @property
    def _ready(self) -> bool:
        return not self._hold and not self._walk

    def _has_room(self) -> bool:
        """Whether nothing that counts would be overwritten."""
        return len(self._tuples) - self._oldest < self._lanes * self._rows

    def _begin(self, probe: Tuple) -> None:
        """Along all that counts, or some of it."""
        first, end = self._oldest, len(self._tuples)
        if random.random() < 0.5:
            first, end = sorted(random.choices(range(first, end + 1), k=2))
        rows: dict[int, Row] = {}
        for number in range(first, end):
            rows.setdefault(number // self._lanes, Row(probe)).resting[number % self._lanes] = self._tuples[number]
        self._begins, self._probe = deque(rows.values()), probe
        self._dut["first"], self._dut["end"] = self._place(first), self._place(end)
        self.walks += 1

    def sample(self) -> None:
        dut = self._dut
        assert dut.decode("free", dut["free"]) == self._place(len(self._tuples)), "a wrong place is free"
        assert dut["walking"] == bool(self._walk), "walking is wrong"
        assert dut["ready"] == self._ready, "ready is wrong"
        coming = any(row.mask for row in self._shown) or any(self._fetched)
        assert dut["busy"] == (coming or bool(self._walk)), "busy is wrong"
        self._check_row(self._shown.popleft())
        self._check_fetched(self._fetched.popleft())

        self._shown.append(self._walk.popleft() if self._step else Row(self._probe if self._hold else {}))
        self._fetched.append(self._wants)
        self._holds = max(0, self._holds - 1)
        if self._begins is not None:
            self._walk = self._begins
            self._holds = random.choice((0, 0, 0, 1, 5))
        if self._stores is not None:
            self._tuples.append(self._stores)
        # What a fetch is after stays.
        if not any(list(self._fetched)[-2:]) and random.random() < 0.5:
            self._oldest = random.randint(self._oldest, len(self._tuples))

    def _check_row(self, row: Row) -> None:
        dut = self._dut
        assert dut["mask"] == row.mask, f"the mask is {dut['mask']:b}, should be {row.mask:b}"
        for lane, tuple_ in row.resting.items():
            port = f"resting__{lane}"
            assert dut.decode(port, dut[port]) == tuple_, f"a wrong tuple in lane {lane}"
        if row.probe:
            assert dut.decode("probe", dut["probe"]) == row.probe, "not the tuple that the walk was for"

    def _check_fetched(self, tuple_: Tuple | None) -> None:
        dut = self._dut
        assert dut["fetched"] == (tuple_ is not None), "fetched is wrong"
        if tuple_ is not None:
            assert dut.decode("picked", dut["picked"]) == tuple_, "not the tuple that was wanted"


@cocotb.test
@cocotb.parametrize(case=list(CASES), go=list(STALLS), fetching=[0.0, 0.2, 0.8])
async def shows_exactly_what_rests(top, case, go, fetching):
    dut = Dut(top, case)
    await dut.reset()
    model = Model(dut, go, **CASES[case], fetching=fetching)
    await dut.cycles(300)
    assert model.walks > 5, "hardly a walk has begun"
    assert (model.fetches > 5) == (fetching > 0)


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def is_empty_after_a_reset(top, case):
    dut = Dut(top, case)
    for cycles in (1, 2, 5, 17, 40):
        await dut.reset(cycles=1)
        Model(dut, "random", **CASES[case], fetching=0.2)
        await dut.cycles(cycles)
    await dut.reset(cycles=1)
    Model(dut, "none", **CASES[case], fetching=0.2)
    await dut.cycles(100)
