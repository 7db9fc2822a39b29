"""Bench of a whole design: exactly the reference's result, each combination once, whatever stalls.

The payload of a tuple is its arrival number (as much of it as fits), scrambled, so that a result tells which tuples it
is of. Keys and times come from all over their widths. Where there are punctuations, their promises are checked as well.
"""

import random
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import cocotb
import numpy as np
from amaranth.hdl import Shape

from streamjoin.hdl.registry import find
from streamjoin.reference.arrivals import Arrivals, Windows
from streamjoin.reference.join import count_overflows, window_join
from streamjoin.reference.punctuations import Punctuations
from streamjoin.sim.benches import spread
from streamjoin.sim.benches.dut import SETTINGS, Dut
from streamjoin.sim.benches.pairs import Tuple, assert_same, joined
from streamjoin.sim.benches.streams import STALLS, Sink
from streamjoin.sim.tuples.numbering import payloads

PARAMETERS = find(SETTINGS["design"]).parameters(**SETTINGS["parameters"])
OUTPUT = PARAMETERS.output_meaning
WINDOWS = Windows(PARAMETERS.windows, PARAMETERS.spans)
GREATEST = (1 << PARAMETERS.key_width) - 1
#: Enough that every window is left several times over.
LENGTH = 3 * sum(PARAMETERS.windows) + 100
SIDES = PARAMETERS.layout.sides
WIDTH = PARAMETERS.width


def make_arrivals(streams: Sequence[int], keys: Sequence[int]) -> Arrivals:
    """Arrivals with keys drawn from ``keys``; some windows' worth of time passes, unevenly, anywhere."""
    count = len(streams)
    time = None
    if PARAMETERS.spans is not None:
        # On average a window of time is as long as half a window's room, so some overflow and some do not.
        step = min(PARAMETERS.spans) / max(PARAMETERS.windows)
        steps = [int(random.choice((0, 0, 1, 2, 5)) * step * random.random() + 0.5) for _ in range(count)]
        time = _column(spread.times(random, steps, PARAMETERS.time_width), PARAMETERS.time_width)
    key, key2 = (_column(random.choices(keys, k=count), PARAMETERS.key_width) for _ in range(2))
    return Arrivals(stream=streams, key=key, key2=key2 if "key2" in PARAMETERS.predicate.fields else None, time=time)


def _column(values: Sequence[int], width: int) -> np.ndarray:
    """As arrivals hold them; what is too wide for machine words stays Python's."""
    return np.array(values, np.int64 if width < 64 else object)


def random_streams(count: int) -> list[int]:
    return random.choices(range(len(SIDES)), k=count)


def some_keys() -> list[int]:
    """Few enough that many pairs match: near each other, or the same but for a bit."""
    return spread.keys(random, PARAMETERS.key_width, PARAMETERS.predicate)


def keys_of_a_row(*, matching: bool) -> tuple[int, ...]:
    """A key for each stream so that each matches the next, or does not; none if there are no such among keys in a row
    and their neighbours."""
    keys = {
        near
        for key in range(GREATEST // 3, GREATEST // 3 + len(SIDES))
        for near in spread.neighbours(key, PARAMETERS.key_width, PARAMETERS.predicate)
    }
    tuples = [SimpleNamespace(key=key, key2=key) for key in sorted(keys)]
    rows = {t.key: (t,) for t in tuples}  # by the key that they begin with: one is as good as another
    for _ in SIDES[1:]:
        longer = (
            (t, *row) for t in tuples for row in rows.values() if PARAMETERS.predicate.holds(t, row[0]) == matching
        )
        rows = {row[0].key: row for row in longer}
    return next((tuple(t.key for t in row) for row in rows.values()), ())


def plain_arrivals(streams: Sequence[int], keys: Sequence[int]) -> Arrivals:
    """Arrivals with these keys, all at the same time."""
    column = _column(keys, PARAMETERS.key_width)
    return Arrivals(
        stream=streams,
        key=column,
        key2=column if "key2" in PARAMETERS.predicate.fields else None,
        time=[0] * len(keys) if PARAMETERS.spans is not None else None,
    )


MATCHING, DIFFERING = keys_of_a_row(matching=True), keys_of_a_row(matching=False)


class Feeder:
    """Offers arrivals in their order: one at a time, or together those whose ports are in the same order.

    Where several tuples of a stream enter in a cycle, it offers transfers of all inputs together; each fills all slots
    it can, or, where something stalls, any number of them.

    Attributes
    ----------
    taken
        How many arrivals the design has taken.
    kept
        The numbers of those that it did not discard.
    stopped
        Offer nothing new from now on.
    """

    def __init__(self, dut: Dut, arrivals: Arrivals, stalls: str):
        self._dut = dut
        self._tuples = _tuples(arrivals, range(len(arrivals)))
        self._sides = [SIDES[stream] for stream in arrivals.stream]
        self._willing = STALLS[stalls]()
        self._stalls = stalls != "none"
        self._offered: list[int] = []
        self.taken = 0
        self.kept: list[int] = []
        self.stopped = False
        dut.attach(self)

    @property
    def done(self) -> bool:
        return not self._offered and (self.stopped or self.taken == len(self._tuples))

    def drive(self) -> None:
        if WIDTH > 1:
            self._drive_together()
            return
        for _ in SIDES:
            following = self.taken + len(self._offered)
            if not self.stopped and following < len(self._tuples) and self._may_offer(following):
                self._offered.append(following)
                self._dut[f"i_{self._sides[following]}__payload"] = self._tuples[following]
        offered = {self._sides[number] for number in self._offered}
        for side in SIDES:
            self._dut[f"i_{side}__valid"] = side in offered

    def _may_offer(self, number: int) -> bool:
        """Of those that are taken in one cycle the first port's counts as the earliest."""
        port = SIDES.index(self._sides[number])
        in_order = not self._offered or SIDES.index(self._sides[self._offered[-1]]) < port
        return in_order and next(self._willing)

    def _drive_together(self) -> None:
        if not self._offered and not self.stopped and next(self._willing):
            room = {side: random.randint(0, WIDTH) if self._stalls else WIDTH for side in SIDES}
            for number in range(self.taken, len(self._tuples)):
                side = self._sides[number]
                if not room[side]:
                    break
                room[side] -= 1
                self._offered.append(number)
            if self._offered:
                self._fill()
        for side in SIDES:
            self._dut[f"i_{side}__valid"] = bool(self._offered)

    def _fill(self) -> None:
        """What nobody needs to look at may be anything."""
        filled = {side: [number for number in self._offered if self._sides[number] == side] for side in SIDES}
        for side, numbers in filled.items():
            payload = {
                f"slots.{slot}.{name}": random.getrandbits(Shape.cast(shape).width)
                for slot in range(len(numbers), WIDTH)
                for name, shape in PARAMETERS.layout.input_slot(side).members.items()
            }
            for slot, number in enumerate(numbers):
                after = sum(earlier < number for earlier in filled[SIDES[0]])
                fields = {**self._tuples[number], **({"after": after} if side == SIDES[1] else {})}
                payload |= {f"slots.{slot}.{name}": value for name, value in fields.items()}
            self._dut[f"i_{side}__payload"] = {"count": len(numbers), **payload}

    def sample(self) -> None:
        ready = [number for number in self._offered if self._dut[f"i_{self._sides[number]}__ready"]]
        if WIDTH > 1 and self._offered:
            assert self._dut["i_r__ready"] == self._dut["i_s__ready"], "the inputs did not transfer together"
        assert ready == self._offered[: len(ready)], "a tuple was taken before the one that arrived earlier"
        if not self._dut["discarding"]:
            self.kept += ready
        self.taken += len(ready)
        self._offered = self._offered[len(ready) :]


def _tuples(arrivals: Arrivals, numbers: Sequence[int]) -> list[Tuple]:
    """The tuples with these arrival numbers, as the design sees them."""
    width = PARAMETERS.payload_width
    rows = zip(arrivals.rows(), payloads(numbers, width).tolist(), strict=True)
    fields = [row._replace(payload=payload)._asdict() for row, payload in rows]
    return [{name: tuple_[name] for name in PARAMETERS.layout.arrival.members} for tuple_ in fields]


class Run:
    """One run from a reset to the drained design, and the comparison with the reference."""

    def __init__(self, dut: Dut, arrivals: Arrivals, source: str = "none", sink: str = "none"):
        self._dut, self._arrivals = dut, arrivals
        self.feeder = Feeder(dut, arrivals, source)
        self.out = Sink(dut, "o_result", sink)

    @property
    def results(self) -> list[Tuple]:
        """What came, but for punctuations."""
        return [item for item in self.out.items if not item.get("mark")]

    async def finish(self) -> None:
        dut = self._dut
        await self._until(lambda: self.feeder.done)
        dut["drain"] = 1
        await self._until(lambda: dut["drained"])
        came, dropped, overflows = len(self.out.items), dut["dropped"], dut["overflows"]
        cocotb.log.info("%d tuples, %d results, %d dropped, %d overflows", self.feeder.taken, came, dropped, overflows)
        kept = self._arrivals[self.feeder.kept]
        assert_same(self.results, self._expected(kept))
        if PARAMETERS.numbered:
            order, mark = (np.array([item[name] for item in self.out.items], np.int64) for name in ("order", "mark"))
            punctuations = Punctuations.among(order, mark.astype(bool))
            punctuations.check(punctuations.order, len(kept), ordered=OUTPUT.ordered)
        assert dropped == self.feeder.taken - len(kept), "the count of dropped tuples is wrong"
        assert not dropped or PARAMETERS.on_full == "drop", "tuples were dropped"
        assert overflows == count_overflows(kept, WINDOWS), "the count of overflows is wrong"
        for _ in range(30):
            await dut.cycle()
            assert dut["drained"], "drained went down again"
        assert len(self.out.items) == came, "a result came after all had been drained"

    def _expected(self, kept: Arrivals) -> list[Tuple]:
        tuples = _tuples(kept, self.feeder.kept)
        if PARAMETERS.numbered:
            tuples = [{**tuple_, "order": order} for order, tuple_ in enumerate(tuples)]
        return [
            joined(self._dut, dict(zip(SIDES, (tuples[number] for number in numbers), strict=True)))
            for numbers in window_join(kept, PARAMETERS.predicate, WINDOWS)
        ]

    async def _until(self, condition: Callable[[], object]) -> None:
        """Run until ``condition`` holds; the design may rest for as long as it says, no longer."""
        rest, moved = 0, (0, 0)
        while not condition():
            await self._dut.cycle()
            now = self.feeder.taken, len(self.out.items)
            rest, moved = (rest + 1 if now == moved else 0), now
            assert rest <= PARAMETERS.patience + LONGEST_STALL, f"the design is stuck after {now} tuples and results"


#: Cycles for which a stall pattern may keep everything still.
LONGEST_STALL = 300


@cocotb.test
@cocotb.parametrize(source=list(STALLS), sink=["random", "one_in_n", "blocks"])
async def is_exact_whatever_stalls(top, source, sink):
    dut = Dut(top)
    await dut.reset()
    await Run(dut, make_arrivals(random_streams(LENGTH), some_keys()), source, sink).finish()


@cocotb.test
async def is_exact_where_all_keys_are_equal(top):
    dut = Dut(top)
    for sink in ("none", "random"):
        await dut.reset()
        await Run(dut, make_arrivals(random_streams(LENGTH), [GREATEST // 2]), "none", sink).finish()


@cocotb.test
async def is_exact_at_both_ends_of_the_keys(top):
    dut = Dut(top)
    await dut.reset()
    await Run(dut, make_arrivals(random_streams(LENGTH), [0, GREATEST]), "random", "random").finish()


@cocotb.test
async def is_exact_for_long_bursts_of_one_stream(top):
    dut = Dut(top)
    await dut.reset()
    burst = max(PARAMETERS.windows) + 3
    streams = [stream for stream in (*range(len(SIDES)), *range(len(SIDES))) for _ in range(burst)]
    await Run(dut, make_arrivals(streams, some_keys()), "none", "random").finish()


@cocotb.test
@cocotb.parametrize(stream=range(len(SIDES)))
async def finds_nothing_in_one_stream_alone(top, stream):
    dut = Dut(top)
    await dut.reset()
    run = Run(dut, make_arrivals([stream] * LENGTH, some_keys()))
    await run.finish()
    assert run.results == []


@cocotb.test
async def finds_nothing_in_an_empty_input(top):
    dut = Dut(top)
    await dut.reset()
    await Run(dut, make_arrivals([], some_keys())).finish()


@cocotb.test(skip=not MATCHING)
@cocotb.parametrize(first=range(len(SIDES)))
async def finds_a_lone_result(top, first):
    """Nothing else keeps the design busy: it must not count itself drained before all have met."""
    dut = Dut(top)
    await dut.reset()
    streams = [*range(first, len(SIDES)), *range(first)]
    run = Run(dut, plain_arrivals(streams, [MATCHING[stream] for stream in streams]))
    await run.finish()
    assert len(run.results) == 1


@cocotb.test
@cocotb.parametrize(cycles=[3, 40, 160])
async def forgets_everything_on_reset(top, cycles):
    """Even in the middle of a drain: no tuple and no result of before the reset shows."""
    dut = Dut(top)
    await dut.reset()
    Run(dut, make_arrivals(random_streams(LENGTH), some_keys()[:3]), "none", "random")
    await dut.cycles(cycles)
    dut["drain"] = 1
    await dut.cycles(cycles // 3)
    await dut.reset(cycles=1)
    await Run(dut, make_arrivals(random_streams(LENGTH), some_keys()[:3]), "random", "random").finish()


@cocotb.test(skip=not (MATCHING and DIFFERING))
@cocotb.parametrize(matching=[8, 24])
async def keeps_results_that_wait_for_long(top, matching):
    """Some results wait for a blocked output while many tuples without a match pass by."""
    dut = Dut(top)
    await dut.reset()
    keys = [*MATCHING] * matching + [*DIFFERING] * LENGTH
    run = Run(dut, plain_arrivals([*range(len(SIDES))] * (matching + LENGTH), keys))
    run.out.blocked = True
    await dut.cycles(LENGTH + LONGEST_STALL)
    run.out.blocked = False
    await run.finish()


@cocotb.test(skip=not MATCHING)
async def holds_back_while_the_output_is_blocked(top):
    """Results wait, valid, until the queues are full; then the design holds tuples back, or drops them."""
    dut = Dut(top)
    await dut.reset()
    run = Run(dut, plain_arrivals([*range(len(SIDES))] * 10_000, [*MATCHING] * 10_000))
    run.out.blocked = True
    halted = rest = 0
    while halted < LONGEST_STALL:
        assert not run.feeder.done, "it takes all that comes, and no result leaves"
        taken = run.feeder.taken
        await dut.cycle()
        halted = halted + 1 if dut["halted"] else 0
        rest = rest + 1 if run.feeder.taken == taken else 0
        assert halted or rest <= PARAMETERS.patience, "it takes nothing for long, and does not say that it is halted"
    assert dut["o_result__valid"], "no result waits at the output"
    taken = run.feeder.taken
    await dut.cycles(50)
    if PARAMETERS.on_full == "drop":
        assert dut["dropped"] > 0, "nothing is dropped"
    else:
        assert run.feeder.taken == taken, "tuples enter although it is halted"
    run.feeder.stopped = True
    run.out.blocked = False
    await run.finish()
