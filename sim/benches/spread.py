"""Keys and times from all over their widths, yet so near to each other that a join has something to find.

What tests a comparison are pairs that just match and pairs that just do not, and what tests each of its bits are pairs
that this bit alone tells apart. All are drawn from a generator: a ``random.Random``, or the module ``random`` itself.
"""

from collections.abc import Sequence
from itertools import accumulate
from random import Random
from types import ModuleType

from streamjoin.reference.predicates import Predicate

# Steps of time from one leap to the next: between them tuples are near enough to meet.
_TOGETHER = 4


def neighbours(key: int, width: int, predicate: Predicate) -> list[int]:
    """The key, and those as far from it, either way, as the ranges of the predicate reach, and one further.

    Past the ends of the width they go on from the other end, where a difference that lost a bit would find them.
    """
    known = (predicate.ranges.key, predicate.ranges.key2)
    bounds = {abs(bound) for ranges in known for pair in ranges or () for bound in pair if bound is not None}
    distances = sorted({0, 1, *bounds, *(bound + 1 for bound in bounds)})
    return list(dict.fromkeys((key + way * distance) % (1 << width) for distance in distances for way in (1, -1)))


def keys(random: Random | ModuleType, width: int, predicate: Predicate) -> list[int]:
    """Keys to choose those of tuples from: some that just match and some that just do not, or, twice as often, all of
    one key but for a bit; now and then one key alone, so that joins of many streams have results as well."""
    greatest = (1 << width) - 1
    key = random.choice((random.getrandbits(width), random.getrandbits(width), 0, greatest))
    near = neighbours(key, width, predicate)
    alike = [key ^ 1 << bit for bit in range(width)]
    return random.choice(
        (
            [key],
            [key, *random.sample(near, min(len(near), 2))],
            [*near, random.getrandbits(width), greatest - key],
            *[[key] * (width // 2 + 1) + alike] * 2,
        )
    )


def times(random: Random | ModuleType, steps: Sequence[int], width: int) -> list[int]:
    """Times with these steps between them: from 0 on, across the middle, where every bit changes, or to the end.

    Half of them have leaps besides, each by a bit alone. What would not fit is the greatest time.
    """
    greatest, steps = (1 << width) - 1, list(steps)
    if random.random() < 0.5:
        places = range(random.randrange(_TOGETHER), len(steps), _TOGETHER)
        for place, bit in zip(places, random.sample(range(width), width), strict=False):
            steps[place] += 1 << bit
    room = max(0, greatest - sum(steps))
    first = random.choice((0, room // 2, room))
    return [min(first + passed, greatest) for passed in accumulate(steps)]
