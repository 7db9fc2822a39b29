"""Control trees: every leaf in the same cycle, after as many cycles as the tree is deep, resets or not."""

import random

import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib.wiring import Component, In, Out

from streamjoin.hdl.lib.control_tree import FanIn, FanOut, Relay, tree_depth
from tests.hdl.stream_bench import run, stepped

SIZES = [(1, 2, 1), (4, 4, 1), (5, 4, 2), (5, 2, 3), (17, 4, 3)]


class Leaves(Component):
    """The leaves of a tree, all in one port."""

    def __init__(self, tree):
        self._tree = tree
        leaf = tree.o[0].shape()
        super().__init__({"i": In(leaf), "o": Out(leaf.width * len(tree.o))})

    def elaborate(self, _):
        m = Module()
        m.submodules.tree = self._tree
        m.d.comb += self._tree.i.eq(self.i)
        width = len(self._tree.i)
        m.d.comb += [self.o[n * width : (n + 1) * width].eq(leaf) for n, leaf in enumerate(self._tree.o)]
        return m


def later(values, cycles):
    return [0] * cycles + values[: len(values) - cycles]


@pytest.mark.parametrize(("leaves", "radix", "depth"), SIZES)
def test_all_leaves_hear_in_the_same_cycle(leaves, radix, depth):
    rng = random.Random(1)
    values = [rng.randrange(16) for _ in range(40)]
    seen = [o for (o,) in stepped(Leaves(FanOut(4, leaves, radix=radix)), [{"i": value} for value in values], ["o"])]
    expected = [sum(value << 4 * leaf for leaf in range(leaves)) for value in later(values, depth)]
    assert tree_depth(leaves, radix) == depth
    assert seen == expected


@pytest.mark.parametrize(("leaves", "radix", "depth"), SIZES)
def test_any_leaf_is_heard_after_the_same_number_of_cycles(leaves, radix, depth):
    """One leaf after the other, all at once, and none in between."""
    values = [bits for leaf in range(leaves) for bits in (1 << leaf, 0)] + [(1 << leaves) - 1] + [0] * (depth + 1)
    seen = [o for (o,) in stepped(FanIn(leaves, radix=radix), [{"i": value} for value in values], ["o"])]
    assert seen == later([int(value != 0) for value in values], depth)


@pytest.mark.parametrize("resets", [False, True])
def test_a_relay_forgets_in_a_reset_only_if_it_is_asked_to(resets):
    relay, reset, seen = Relay(4, resets=resets), Signal(), []

    async def bench(ctx):
        for cycle in range(6):
            ctx.set(relay.i, 9 + cycle)
            ctx.set(reset, cycle == 2)
            _, _, value = await ctx.tick().sample(relay.o)
            seen.append(value)

    run(ResetInserter(reset)(relay), bench)
    assert seen == [0, 9, 10, 0 if resets else 11, 12, 13]


@pytest.mark.parametrize(
    ("leaves", "radix", "sentence"),
    [(0, 2, "at least one leaf, not 0"), (3, 1, "must branch at least in two, not 1")],
)
def test_trees_that_cannot_be(leaves, radix, sentence):
    with pytest.raises(ValueError, match=sentence):
        FanOut(1, leaves, radix=radix)
    with pytest.raises(ValueError, match=sentence):
        FanIn(leaves, radix=radix)
