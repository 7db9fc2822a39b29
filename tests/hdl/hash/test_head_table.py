"""The table of heads: who was the youngest of a bucket, with the tuples of this cycle and of the one before in mind."""

import random
from collections import Counter

import pytest
from amaranth.lib import data

from streamjoin.hdl.hash.head_table import HeadTable
from tests.hdl.stream_bench import stepped

NUMBER = data.StructLayout({"place": 5, "lap": 3})


@pytest.mark.parametrize("buckets", [1, 2, 4, 16])
def test_a_bucket_knows_its_youngest_tuple(buckets):
    """In every cycle perhaps a tuple, often for the bucket of the one before, and a bucket that is looked up."""
    rng = random.Random(buckets)
    entered: list[list[tuple[int, dict]]] = [[] for _ in range(buckets)]
    steps, befores, youngests, ages = [], [], [], Counter()

    def remembered(name: str, bucket: int, cycle: int):
        """The youngest of a bucket, if there is one; and note how many cycles ago it came."""
        if not entered[bucket]:
            return None
        came, number = entered[bucket][-1]
        ages[name, cycle - came] += 1
        return number

    for cycle in range(1500):
        number = {"place": rng.randrange(32), "lap": rng.randrange(8)}
        enter, bucket, wanted = rng.random() < 0.7, rng.randrange(buckets), rng.randrange(buckets)
        steps.append({"enter": enter, "bucket": bucket, "place": number, "wanted": wanted})
        # What it was before this tuple came; and what it is afterwards.
        befores.append(remembered("before", bucket, cycle) if enter else None)
        if enter:
            entered[bucket].append((cycle, number))
        youngests.append(remembered("youngest", wanted, cycle))

    idle = [{"enter": 0}] * HeadTable.LATENCY
    seen = stepped(HeadTable(NUMBER, buckets), steps + idle, ["before", "youngest"])[HeadTable.LATENCY :]
    for cycle, (before, youngest) in enumerate(seen):
        assert befores[cycle] in (None, before)
        assert youngests[cycle] in (None, youngest)
    # Those that are on their way into the memory, and those that are not.
    assert min(ages["before", age] for age in (1, 2, 3)) > 20
    assert min(ages["youngest", age] for age in (0, 1, 2, 3)) > 20


def test_a_tuple_is_not_its_own_predecessor():
    """Nor is one that did not enter anybody's."""
    steps = [
        {"enter": 1, "bucket": 1, "place": {"place": 7, "lap": 1}, "wanted": 1},
        {"enter": 0, "bucket": 1, "place": {"place": 8, "lap": 1}, "wanted": 1},
        {"enter": 1, "bucket": 1, "place": {"place": 9, "lap": 1}, "wanted": 1},
        {"enter": 1, "bucket": 0, "place": {"place": 10, "lap": 1}, "wanted": 1},
        *[{"enter": 0}] * HeadTable.LATENCY,
    ]
    seen = stepped(HeadTable(NUMBER, 2), steps, ["before", "youngest"])[HeadTable.LATENCY :]
    assert seen[2][0] == {"place": 7, "lap": 1}
    assert [youngest["place"] for _, youngest in seen] == [7, 7, 9, 9]


def test_buckets_are_a_power_of_two():
    with pytest.raises(ValueError, match="a power of two, not 3"):
        HeadTable(NUMBER, 3)
