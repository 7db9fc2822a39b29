"""Hash functions: the circuit does what its masks say, and keys fill the buckets evenly."""

import random
from collections import Counter
from itertools import pairwise

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator

from streamjoin.hdl.lib.hashing import bucket_of, scatter_masks, scattered


def hashed(function, bits: int, keys) -> list[int]:
    """What a circuit makes of these keys."""
    m, key, found = Module(), Signal(bits), []
    value = function(key)
    bucket = Signal(len(value))
    m.d.comb += bucket.eq(value)

    async def bench(ctx):
        for one in keys:
            ctx.set(key, one)
            found.append(ctx.get(bucket))

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    return found


def by_masks(key: int, masks: list[int]) -> int:
    return sum(((key & mask).bit_count() & 1) << n for n, mask in enumerate(masks))


@pytest.mark.parametrize(("bits", "width"), [(1, 1), (5, 3), (8, 8), (3, 6), (62, 10), (64, 1)])
def test_each_bit_is_the_parity_of_what_its_mask_selects(bits, width):
    rng = random.Random(1)
    keys = range(1 << bits) if bits < 9 else [rng.getrandbits(bits) for _ in range(200)]
    masks = scatter_masks(bits, width, seed=3)
    found = hashed(lambda key: scattered(key, width, 3), bits, keys)
    assert found == [by_masks(key, masks) for key in keys]
    assert len(set(found)) > 1


@pytest.mark.parametrize("seed", range(1, 20))
def test_dense_keys_fill_the_buckets_evenly(seed):
    """So many keys in a row as there are buckets are in as many buckets, wherever the row begins."""
    masks = scatter_masks(12, 5, seed)
    buckets = [by_masks(key, masks) for key in range(1 << 12)]
    for first in range(0, 1 << 12, 32):
        assert len(set(buckets[first : first + 32])) == 32
    assert set(Counter(buckets).values()) == {1 << 7}


def test_keys_that_differ_in_their_upper_bits_are_spread_as_the_seed_says():
    """Over many seeds such a pair meets as often as two keys in random buckets."""
    rng, meets, seeds = random.Random(2), 0, 4000
    for seed in range(seeds):
        masks = scatter_masks(16, 4, seed)
        one, other = (rng.randrange(1, 1 << 12) << 4 for _ in range(2))
        meets += one != other and by_masks(one, masks) == by_masks(other, masks)
    assert 0.8 < meets / seeds * 16 < 1.2


def test_a_seed_says_all():
    assert scatter_masks(32, 8, 1) == scatter_masks(32, 8, 1)
    assert all(scatter_masks(32, 8, one) != scatter_masks(32, 8, next_one) for one, next_one in pairwise(range(9)))


@pytest.mark.parametrize("width", [1, 6, 20])
def test_two_levels_of_gates_are_enough(width):
    for seed in range(30):
        masks = scatter_masks(62, width, seed)
        assert max(mask.bit_count() for mask in masks) <= 16
        assert max(masks) < 1 << 62


def test_one_bucket_and_keys_of_no_bits():
    assert scatter_masks(8, 0, 1) == []
    assert hashed(lambda key: scattered(key, 0, 1), 8, [0, 77]) == [0, 0]
    assert hashed(lambda key: scattered(key[8:], 3, 1), 8, [0, 77]) == [0, 0]


@pytest.mark.parametrize("buckets", [2, 8])
def test_folding_looks_at_all_bits(buckets):
    found = hashed(lambda key: bucket_of(key, buckets), 7, [0, *(1 << bit for bit in range(7))])
    assert found[0] == 0
    assert 0 not in found[1:]
