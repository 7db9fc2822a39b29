"""Bench of mergers and merging trees for streams with punctuations: these stay where they are among each leaf's items.

Every leaf sends the same punctuations, and items of its own between them. One that overtook an item, or left twice, or
let an item behind it go first, would show: seen from any leaf, its own items and all punctuations that came are exactly
what it sent.
"""

import random

import cocotb

from streamjoin.sim.benches.dut import CASES, Dut
from streamjoin.sim.benches.pairs import PAYLOADS, Tuple
from streamjoin.sim.benches.streams import STALLS, Sink, Source

#: Where the items of a leaf have its number, a punctuation has this.
_NO_LEAF = 15


class Punctuated:
    """Sources at ``i__0``, ``i__1``, …, a sink at ``o``.

    ``counts`` says for each leaf how many items it has before each punctuation. In every cycle ``busy`` must tell
    whether something is inside.
    """

    def __init__(self, dut: Dut, counts: list[list[int]], source: str = "none", sink: str = "none"):
        self._dut = dut
        self._sent = [_items(leaf, own) for leaf, own in enumerate(counts)]
        # Before the others: it must see what was inside at the beginning of the cycle.
        dut.attach(self)
        self.sources = [Source(dut, f"i__{leaf}", items, source) for leaf, items in enumerate(self._sent)]
        self.out = Sink(dut, "o", sink)

    def drive(self) -> None:
        pass

    def sample(self) -> None:
        taken = [sent[: len(source.taken)] for sent, source in zip(self._sent, self.sources, strict=True)]
        marks = max(sum(item["mark"] for item in items) for items in taken)
        items = sum(1 - item["mark"] for items in taken for item in items)
        inside = marks + items - len(self.out.items)
        assert (self._dut["busy"] != 0) == (inside > 0), f"busy is wrong with {inside} items inside"

    async def finish(self, within: int) -> None:
        """Run to the end, and compare."""
        marks = sum(item["mark"] for item in self._sent[0])
        total = sum(len(items) - marks for items in self._sent) + marks
        await self._dut.until(lambda: len(self.out.items) >= total, within=within)
        await self._dut.cycles(10)
        for leaf, sent in enumerate(self._sent):
            came = [item for item in self.out.items if item["leaf"] in (leaf, _NO_LEAF)]
            assert came == sent, f"leaf {leaf} and the punctuations came out as {came[:20]}…"
        assert len(self.out.items) == total


def _items(leaf: int, counts: list[int]) -> list[Tuple]:
    items = []
    for order, count in enumerate(counts):
        items += [{"number": PAYLOADS[len(items) + n], "leaf": leaf, "mark": 0} for n in range(count)]
        items.append({"number": PAYLOADS[order], "leaf": _NO_LEAF, "mark": 1})
    return items


def _random_counts(case: str, punctuations: int) -> list[list[int]]:
    """Often none: then punctuations follow each other at once."""
    return [random.choices((0, 0, 1, 2, 9), k=punctuations) for _ in range(CASES[case]["leaves"])]


@cocotb.test
@cocotb.parametrize(case=list(CASES), source=list(STALLS), sink=["none", "random", "blocks"])
async def keeps_punctuations_in_their_place(top, case, source, sink):
    dut = Dut(top, case)
    await dut.reset()
    await Punctuated(dut, _random_counts(case, 12), source, sink).finish(within=20_000)


@cocotb.test
@cocotb.parametrize(case=list(CASES), late=["first", "last"])
async def passes_what_a_late_leaf_sends_meanwhile(top, case, late):
    """All other leaves have come to their punctuation, with much behind it: they wait, and the late one does not."""
    dut, leaves = Dut(top, case), CASES[case]["leaves"]
    await dut.reset()
    slow = 0 if late == "first" else leaves - 1
    gathering = Punctuated(dut, [[30, 0] if leaf == slow else [0, 9] for leaf in range(leaves)])
    await gathering.finish(within=500)
    assert {item["leaf"] for item in gathering.out.items[:30]} == {slow}
    _check_speed(gathering.out.taken[:30], leaves)


@cocotb.test
@cocotb.parametrize(case=list(CASES))
async def passes_one_a_cycle_between_punctuations(top, case):
    dut, leaves = Dut(top, case), CASES[case]["leaves"]
    await dut.reset()
    gathering = Punctuated(dut, [[24] for _ in range(leaves)])
    await gathering.finish(within=1_000)
    _check_speed(gathering.out.taken[:-1], leaves)


def _check_speed(taken: list[int], leaves: int) -> None:
    """One a cycle, but for those in which a merger takes a punctuation from one of its inputs."""
    assert taken[-1] - taken[0] + 1 <= len(taken) + leaves


@cocotb.test
@cocotb.parametrize(case=list(CASES), cycles=range(3, 15, 3))
async def forgets_on_reset(top, case, cycles):
    """Also that a punctuation has come on some leaves."""
    dut, leaves = Dut(top, case), CASES[case]["leaves"]
    await dut.reset()
    Punctuated(dut, [[leaf, 4] for leaf in range(leaves)], sink="random")
    await dut.cycles(cycles)
    await dut.reset(cycles=1)
    await Punctuated(dut, _random_counts(case, 5), "random", "random").finish(within=2_000)
