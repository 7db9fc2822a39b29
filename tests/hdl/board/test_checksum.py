"""The checksum on the chip is that of the software, and forgets the order of results alone."""

import numpy as np
from amaranth.lib import data
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjoin.hdl.board.checksum import ResultChecksum
from tests.hdl.stream_bench import run


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 2**5 - 1), st.integers(0, 2**40 - 1), st.integers(0, 2**60 - 1)), max_size=12))
def test_checksum_is_that_of_the_software(items):
    checksum = ResultChecksum(data.StructLayout({"a": 5, "b": 40, "c": 100}))

    async def bench(ctx):
        taken = []
        for n in range(len(items) + checksum.latency):
            # In every cycle, then with a pause: both sums are those of what was taken so many cycles ago.
            comes = n < len(items) and (n < 4 or n % 2)
            ctx.set(checksum.i.valid, comes)
            ctx.set(checksum.i.p, dict(zip("abc", items[n] if comes else (1, 2, 3), strict=True)))
            taken.append(items[n] if comes else None)
            _, _, ready, count, total = await ctx.tick().sample(checksum.i.ready, checksum.count, checksum.total)
            assert ready
            counted = [item for item in taken[: max(0, n + 1 - checksum.latency)] if item]
            columns = {name: np.array([item[k] for item in counted], np.uint64) for k, name in enumerate("abc")}
            assert (count, total) == checksum.of(columns)

    run(checksum, bench)


def test_checksum_forgets_the_order_and_nothing_else():
    checksum = ResultChecksum(data.StructLayout({"r": 32, "s": 32}))
    rng = np.random.default_rng(1)
    r, s = rng.integers(0, 64, (2, 50))
    right = checksum.of({"r": r, "s": s})
    order = rng.permutation(50)
    assert checksum.of({"r": r[order], "s": s[order]}) == right
    for first in range(0, 50, 2):
        swapped = s.copy()
        swapped[first], swapped[first + 1] = s[first + 1], s[first]
        if s[first] != s[first + 1] and r[first] != r[first + 1]:
            assert checksum.of({"r": r, "s": swapped}) != right
