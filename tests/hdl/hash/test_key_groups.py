"""Groups of keys: whatever the bounds, each partner of a tuple is in exactly one of the buckets that it looks up."""

import random

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib.data import ArrayLayout
from amaranth.sim import Simulator

from streamjoin.hdl.hash.key_groups import KeyGroups

BOUNDS = range(-9, 10)
#: Whose ends are the same, and not; on one side of 0, or both; wider than all keys, and beyond them.
FAR = [(-100, 100), (0, 1000), (-1000, -1), (20, 20), (-31, -31), (31, 31), (32, 33), (-64, -40), (5, 1 << 40)]


class Tables:
    """What becomes of each key: where it is stored, and what it looks up from either side."""

    def __init__(self, groups: KeyGroups, buckets: int):
        self.groups = groups
        self.stored, self.looked_up = {}, {"r": {}, "s": {}}
        m, key = Module(), Signal(groups.key_width)
        bucket, bank, belongs = Signal(range(max(2, buckets))), Signal(), Signal(2)
        m.d.comb += [
            bucket.eq(groups.stored(key, buckets)),
            bank.eq(groups.parity(key)),
            belongs.eq(groups.of_bank(key, 0) | groups.of_bank(key, 1) << 1),
        ]
        asked, wanted = {}, {}
        for side in "rs":
            ends = groups.ends(m, side, key)
            asked[side] = Signal(ArrayLayout(max(1, len(bucket)), groups.banks), name=f"asked_{side}")
            wanted[side] = Signal(groups.banks, name=f"wanted_{side}")
            looked_up = groups.looked_up(ends, buckets)
            assert len(looked_up) == groups.banks
            m.d.comb += [asked[side][n].eq(each) for n, each in enumerate(looked_up)]
            m.d.comb += wanted[side].eq(groups.wanted(ends))

        async def bench(ctx):
            for one in range(1 << groups.key_width):
                ctx.set(key, one)
                self.stored[one] = ctx.get(bank), ctx.get(bucket)
                assert ctx.get(belongs) == (1 << ctx.get(bank) if groups.banks == 2 else 3)
                await ctx.tick()
                for side in "rs":
                    wants, asks = ctx.get(wanted[side]), ctx.get(asked[side])
                    banks = [n for n in range(groups.banks) if wants >> n & 1]
                    assert set(banks) == self._parities(side, one), "no bank is asked in vain"
                    self.looked_up[side][one] = {(n, asks[n]) for n in banks}

        simulator = Simulator(m)
        simulator.add_clock(1e-6)
        simulator.add_testbench(bench)
        simulator.run()

    def _parities(self, side: str, key: int) -> set[int]:
        """Of the groups of all that a key of this side may match."""
        lower, upper = (self.groups.lo, self.groups.hi) if side == "s" else (-self.groups.hi, -self.groups.lo)
        return {(key + end) >> self.groups.shift & 1 if self.groups.banks == 2 else 0 for end in (lower, upper)}

    def check(self) -> int:
        """All pairs; how many there are whose difference lies between the bounds."""
        pairs = 0
        for r in self.stored:
            for s in self.stored:
                if self.groups.lo <= r - s <= self.groups.hi:
                    pairs += 1
                    # Banks differ, so a bucket that is looked up is looked up once.
                    assert self.stored[s] in self.looked_up["r"][r]
                    assert self.stored[r] in self.looked_up["s"][s]
        return pairs


@pytest.mark.parametrize("lo", BOUNDS)
def test_each_pair_between_any_bounds_is_found_once(lo):
    rng = random.Random(lo)
    for hi in range(lo, BOUNDS.stop):
        groups = KeyGroups(lo, hi, key_width=rng.choice((3, 4)), seed=rng.randrange(100))
        assert Tables(groups, rng.choice((1, 2, 4))).check() > 0 or abs(lo) > 7


@pytest.mark.parametrize("key_width", [1, 2, 5])
@pytest.mark.parametrize(("lo", "hi"), [(-1, 1), (0, 0), (-3, 2), (2, 3), (-7, -7), *FAR])
def test_bounds_that_are_far_apart_or_beyond_all_keys(lo, hi, key_width):
    tables = Tables(KeyGroups(lo, hi, key_width, seed=1), 4)
    most = (1 << key_width) - 1
    assert (tables.check() > 0) == (lo <= most and hi >= -most)


@pytest.mark.parametrize(("lo", "hi"), [(0, 0), (5, 5), (-1, 0), (-1, 1), (0, 3), (-2, 2), (3, 7)])
def test_groups_are_as_small_as_they_may_be(lo, hi):
    """With buckets for all groups a tuple looks up what it needs, and at most a group beside it."""
    groups = KeyGroups(lo, hi, key_width=6, seed=1)
    size = 1 << groups.shift
    assert groups.banks == (1 if lo == hi else 2)
    assert hi == lo or hi - lo <= size < 2 * (hi - lo)
    tables = Tables(groups, 64)
    assert len(set(tables.stored.values())) == -(-64 // size), "groups share no bucket"
    for r, asked in tables.looked_up["r"].items():
        keys = [key for key, where in tables.stored.items() if where in asked]
        assert len(keys) <= groups.banks * size
        if lo == hi and 0 <= r - lo < 64:
            assert keys == [r - lo]


def test_wide_keys_have_ends_that_are_wide_enough():
    """The first and the last keys of 62 bits, whose intervals reach beyond."""
    m, key = Module(), Signal(62)
    groups = KeyGroups(-5, 3, 62, seed=1)
    ends, wanted = groups.ends(m, "s", key), Signal(2)
    m.d.comb += wanted.eq(groups.wanted(ends))

    async def bench(ctx):
        for one in (0, (1 << 62) - 1, 1 << 61):
            ctx.set(key, one)
            await ctx.tick()
            assert [ctx.get(end) for end in ends] == [one - 5, one + 3]
            parities = {(one - 5) >> 3 & 1, (one + 3) >> 3 & 1}
            assert ctx.get(wanted) == sum(1 << parity for parity in parities)

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def homes(groups: KeyGroups) -> dict[str, dict[int, list[int]]]:
    """The homes of each key, of either side."""
    m, key = Module(), Signal(groups.key_width)
    found = {side: {} for side in "rs"}
    told = {}
    for side in "rs":
        mine = groups.homes(m, side, key)
        told[side] = Signal(ArrayLayout(groups.home_bits, len(mine)), name=f"homes_{side}")
        m.d.comb += [told[side][n].eq(home) for n, home in enumerate(mine)]

    async def bench(ctx):
        for one in range(1 << groups.key_width):
            ctx.set(key, one)
            await ctx.tick()
            for side in "rs":
                found[side][one] = [ctx.get(told[side])[n] for n in range(len(told[side]))]

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return found


@pytest.mark.parametrize(("lo", "hi"), [(0, 0), (5, 5), (-3, 3), (-7, -2), (0, 1), (-20, 11), (-1000, 1000), (31, 64)])
def test_partners_have_a_home_in_common(lo, hi):
    """A tuple of S has one home, and all R tuples that it may match have that among theirs."""
    found = homes(KeyGroups(lo, hi, key_width=6, seed=4, home_bits=3))
    for s, (home,) in found["s"].items():
        for r, theirs in found["r"].items():
            assert not lo <= r - s <= hi or home in theirs
    assert max(map(len, found["r"].values())) == (1 if lo == hi else 2)
    if lo == hi:
        assert len({home for (home,) in found["s"].values()}) == 8


def test_few_tuples_have_two_homes():
    found = homes(KeyGroups(-3, 3, key_width=10, seed=4, home_bits=3))
    twice = sum(len(set(mine)) == 2 for mine in found["r"].values())
    assert 0 < twice < 0.12 * 1024
