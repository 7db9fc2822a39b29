"""Generated tuples: any number of them, each a pure function of the seed and its position.

So any slice can be made by itself, by any process, and is the same part of the same whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from functools import cached_property
from math import floor, sqrt

import numpy as np

from streamjoin.reference.arrivals import Arrivals
from streamjoin.reference.key_ranges import ClosedRanges, Ranges, closed
from streamjoin.reference.predicates import Predicate, parse_predicate
from streamjoin.reference.wording import shown

_EQUAL: ClosedRanges = ((0, 0),)
_UNEQUAL: Ranges = ((None, -1), (1, None))
_BELOW: tuple[Ranges, ...] = ((None, -1),), ((None, 0),)
_ABOVE: tuple[Ranges, ...] = ((1, None),), ((0, None),)
_BURST = 32  # mean length of the bursts that "bursty" is made of; neighbours may be of one stream

# What a random number is drawn for: no two purposes share one.
_STREAM, _BURST_END, _TIME, _PAYLOAD, _CHOICE, _GROUP, _SLOT, _SLOT2, _KEY, _KEY2, _SIDE, _PHASE = range(12)

_ONE_SIDED = 16  # of so many tuples all but one are of the first stream
_RANKS = 1 << 16  # groups that "zipf" tells apart


@dataclass(frozen=True)
class Workload:
    """Tuples of ``streams`` streams without end; `slice` gives a part of them.

    Parameters
    ----------
    streams : how many; at least 2
    seed : another seed gives other tuples
    key_width : bits of the keys, at most 63
    payload_width : bits of the payload, at most 63; 0 for none
    predicate : decides what matches, and whether tuples have a second key
    match_rate : the probability that two tuples of different streams satisfy the predicate, 0 meaning that none
        ever do; None for keys that are uniform over the key width
    keys : how the keys that match are spread: ``"uniform"``; ``"zipf"``, the n-th most frequent with a share of
        1 / n^s, where s makes the match rate, or is 1 without one; or ``"drifting"``, uniform, but each key gives way
        to another every ``drift`` tuples, all at different times
    drift : how many tuples a drifting key lasts; two tuples that are far less apart match at the given rate
    arrivals : ``"alternating"``, ``"random"`` (each tuple's stream is drawn), ``"bursty"`` (each burst's is) or
        ``"one-sided"`` (fifteen of sixteen tuples are of the first stream)
    tuples_per_tick : how many tuples arrive in one tick of the ``time`` column, on average
    """

    streams: int = 2
    seed: int = 0
    key_width: int = 32
    payload_width: int = 0
    predicate: Predicate = parse_predicate("equi")
    match_rate: float | None = None
    arrivals: str = "alternating"
    tuples_per_tick: int = 1
    keys: str = "uniform"
    drift: int = 1 << 16

    def __post_init__(self):
        if self.streams < 2:
            raise ValueError(f"{self.streams} streams cannot be joined: give at least 2")
        if not 1 <= self.key_width <= 63:
            raise ValueError(f"keys of {self.key_width} bits cannot be generated: give a key width from 1 to 63")
        if not 0 <= self.payload_width <= 63:
            raise ValueError(f"payloads of {self.payload_width} bits cannot be generated: give a width from 0 to 63")
        if self.arrivals not in _ARRIVALS:
            raise ValueError(f"arrivals cannot be {shown(self.arrivals)}: choose one of {', '.join(_ARRIVALS)}")
        if self.tuples_per_tick < 1:
            raise ValueError(f"{self.tuples_per_tick} tuples a tick make no time pass: give at least 1")
        if self.keys not in KEYS:
            raise ValueError(f"keys cannot be {shown(self.keys)}: choose one of {', '.join(KEYS)}")
        if self.drift < 1:
            raise ValueError(f"keys that last {self.drift} tuples are never there: give a drift of at least 1")
        _ = self._keys  # says what is wrong with the match rate

    def slice(self, start: int, stop: int) -> Arrivals:
        """Tuples [start, stop)."""
        draw = _Draw(self.seed, np.arange(start, stop, dtype=np.uint64))
        stream = _ARRIVALS[self.arrivals](draw, self.streams)
        key, key2 = self._keys.draw(draw, stream)
        return Arrivals(
            stream=stream,
            key=key,
            key2=key2 if "key2" in self.predicate.fields else None,
            # A tuple is at most one position late, so none overtakes another.
            time=(draw.position + draw.below(2, _TIME)) // np.uint64(self.tuples_per_tick),
            payload=draw.below(1 << self.payload_width, _PAYLOAD) if self.payload_width else None,
        )

    @cached_property
    def _keys(self):
        """How keys are drawn so that the predicate holds as often as asked."""
        space, rate = 1 << self.key_width, self.match_rate
        ranges, ranges2 = _drawable(self.predicate)
        if rate is None and self.keys == "uniform":
            return _Uniform(space)
        if rate is None and self.keys == "drifting":
            raise ValueError("drifting keys need a match rate: give one")
        if rate is not None and not 0 <= rate <= 1:
            raise ValueError(f"a match rate of {rate} is no probability: give one from 0 to 1")
        if ranges is None and rate is None:
            ranges = _EQUAL
        if ranges is None:
            raise ValueError(
                f"no keys are known to match {shown(self.predicate.spec)} at a given rate: leave the match rate out"
            )
        if rate is not None and self.streams > 2 and not self.predicate.is_equi:
            raise ValueError(
                f"{self.streams} streams have a match rate only for 'equi': choose it, or leave the match rate out"
            )
        if self.keys != "uniform" and closed(ranges) is None:
            raise ValueError(
                f"keys are {self.keys} only where keys match that are equal or near: take keys that are uniform"
            )
        ranges, ranges2 = _within(ranges, space), _within(ranges2, space)
        if not (ranges and ranges2):
            if rate:
                raise ValueError(
                    f"no two keys of width {self.key_width} match by {shown(self.predicate.spec)}: widen the key, or "
                    "leave the match rate out"
                )
            ranges = ranges2 = _EQUAL  # none match, whatever the keys are
        if rate is None:
            return _Zipf(None, space, self.streams, *_closed(ranges, ranges2))
        if ranges == _UNEQUAL:
            return _Groups(1 - rate, space, self.streams, _EQUAL, _EQUAL)
        if ranges in _BELOW:
            return _Sides(rate, space)
        if ranges in _ABOVE:
            return _Sides(1 - rate, space)
        near, near2 = _closed(ranges, ranges2)
        crowded = rate == 0 and _Layout(space, near, near2).slots < self.streams
        if crowded and self.keys == "uniform" and _nearest(near):
            return _Uniform(_nearest(near))
        if self.keys == "zipf":
            return _Zipf(rate, space, self.streams, near, near2)
        return _Groups(rate, space, self.streams, near, near2, self.drift if self.keys == "drifting" else None)


def _drawable(predicate: Predicate) -> tuple[Ranges | None, Ranges]:
    """Differences of key and key2 that match, and no others do; None for the first if keys cannot be drawn by them."""
    known = predicate.ranges
    if not known.exact or known.key is None:
        return None, _EQUAL
    if known.key2 is None and known.key in (_UNEQUAL, *_BELOW, *_ABOVE):
        return known.key, _EQUAL
    ranges2 = known.key2 or _EQUAL
    return (None, _EQUAL) if closed(known.key) is None or closed(ranges2) is None else (known.key, ranges2)


def _within(ranges: Ranges, space: int) -> Ranges:
    """Those of the ranges in which two keys of a key space can differ."""
    return tuple((lo, hi) for lo, hi in ranges if (lo is None or lo < space) and (hi is None or -hi < space))


def _closed(*several: Ranges) -> Iterator[ClosedRanges]:
    """Ranges of which none is open, as those are that have not been dealt with otherwise."""
    for ranges in several:
        bounded = closed(ranges)
        assert bounded is not None
        yield bounded


def _nearest(ranges: ClosedRanges) -> int:
    """How far apart the nearest keys are that match, and nearer ones never do; 0 if equal keys match."""
    return min(0 if lo <= 0 <= hi else min(abs(lo), abs(hi)) for lo, hi in ranges)


class _Draw:
    """Random numbers of the tuples at some positions, one for each purpose."""

    def __init__(self, seed: int, position: np.ndarray):
        self.seed = seed
        self.position = position

    def bits(self, purpose: int, of: np.ndarray | None = None) -> np.ndarray:
        """64 random bits for each position, or for each of some other numbers."""
        lane = _mix(_mix(np.array([self.seed % (1 << 64)], np.uint64)) + np.uint64(purpose))
        return _mix(lane + (self.position if of is None else of) * np.uint64(0x9E3779B97F4A7C15))

    def below(self, limit: int | np.ndarray, purpose: int, of: np.ndarray | None = None) -> np.ndarray:
        """Uniform in [0, limit)."""
        return self.bits(purpose, of) % np.asarray(limit, np.uint64)

    def chance(self, probability: float, purpose: int) -> np.ndarray:
        """True with the given probability; for 0 never and for 1 always."""
        return (self.bits(purpose) >> np.uint64(11)) * 2.0**-53 < probability


def _mix(x: np.ndarray) -> np.ndarray:
    """The finaliser of splitmix64: a bijection whose every output bit depends on every input bit."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _alternating(draw: _Draw, streams: int) -> np.ndarray:
    return draw.position % np.uint64(streams)


def _random(draw: _Draw, streams: int) -> np.ndarray:
    return draw.below(streams, _STREAM)


def _bursty(draw: _Draw, streams: int) -> np.ndarray:
    # One burst ends somewhere in each stretch of _BURST positions.
    stretch, offset = np.divmod(draw.position, np.uint64(_BURST))
    burst = stretch + (offset >= draw.below(_BURST, _BURST_END, of=stretch))
    return draw.below(streams, _STREAM, of=burst)


def _one_sided(draw: _Draw, streams: int) -> np.ndarray:
    others = 1 + draw.below(streams - 1, _STREAM)
    return np.where(draw.below(_ONE_SIDED, _SIDE) == 0, others, 0).astype(np.uint64)


_ARRIVALS = {"alternating": _alternating, "random": _random, "bursty": _bursty, "one-sided": _one_sided}

#: The names of the orders in which streams arrive, and of the ways in which keys are spread.
ARRIVALS = tuple(_ARRIVALS)
KEYS = ("uniform", "zipf", "drifting")


@dataclass(frozen=True)
class _Uniform:
    """Keys from the whole key space."""

    space: int

    def draw(self, draw: _Draw, _stream: np.ndarray):
        return draw.below(self.space, _KEY), draw.below(self.space, _KEY2)


class _Sides:
    """For r < s and its kin: R in the middle third of the key space, S above it at a given rate, else below."""

    def __init__(self, rate: float, space: int):
        if space < 3:
            raise ValueError(
                "keys of 1 bit are too few to lie below and above others as a match rate asks: give a key width of at "
                "least 2"
            )
        self.rate = rate
        self.third = space // 3

    def draw(self, draw: _Draw, stream: np.ndarray):
        above = draw.chance(self.rate, _CHOICE)
        third = np.where(stream == 0, 1, np.where(above, 2, 0)).astype(np.uint64)
        return third * np.uint64(self.third) + draw.below(self.third, _KEY), None


class _Layout:
    """Where groups of keys lie: tuples of the same group match, and only they.

    Groups lie so far apart in the key space that no range of differences reaches from one to the next. With ``drift``
    each of them moves, within its own share of the space, every so many tuples.
    """

    def __init__(self, space: int, ranges: ClosedRanges, ranges2: ClosedRanges, drift: int | None = None):
        self.inside, self.inside2 = _Inside(*ranges[0], space), _Inside(*ranges2[0], space)
        self.distance = min(space, 1 + 2 * max(abs(bound) for pair in ranges for bound in pair))
        self.positions2 = space - self.inside2.reach
        self.slots = (space - 1 - self.inside.reach) // self.distance + 1
        self.drift = drift

    def place(self, groups: int) -> None:
        """Give each of so many groups its share of the slots."""
        if groups > self.slots:
            raise ValueError(
                f"this match rate needs {groups} groups of keys that match within a group alone, and so narrow a key "
                f"has room for {self.slots}: widen the key, or change the rate"
            )
        self.groups = groups
        self.stride = self.slots // groups
        if self.drift and self.stride == 1:
            raise ValueError(f"keys have no room to drift, {groups} of {self.slots} being in use: widen the key")

    def keys(self, draw: _Draw, stream: np.ndarray, group: np.ndarray):
        where = group
        if self.drift:
            version = (draw.position + draw.below(self.drift, _PHASE, of=group)) // np.uint64(self.drift)
            where = group + version * np.uint64(self.groups)
        # Anywhere in its share of the slots, so that low bits of the key vary as much as high ones.
        slot = group * np.uint64(self.stride) + draw.below(self.stride, _SLOT, of=where)
        key = slot * np.uint64(self.distance) + self.inside.draw(draw, stream, _KEY)
        key2 = draw.below(self.positions2, _SLOT2, of=where) + self.inside2.draw(draw, stream, _KEY2)
        return key, key2


class _Groups:
    """For keys that are equal or near, as many groups of them as the match rate asks for.

    Of D + 1 groups one is drawn with probability a and each of the others with (1 - a) / D. With D = ⌊1 / rate⌋ some
    a makes a² + (1 - a)² / D, the probability that two tuples draw the same group, equal to the rate. For rate 0
    each stream has groups of its own.
    """

    def __init__(
        self,
        rate: float,
        space: int,
        streams: int,
        ranges: ClosedRanges,
        ranges2: ClosedRanges,
        drift: int | None = None,
    ):
        self.layout = _Layout(space, ranges, ranges2, drift)
        if rate == 0:
            self.streams_apart, self.special = streams, 0.0
            # Keys that drift need room beside them.
            self.common = max(1, self.layout.slots // (streams if drift is None else 2 * streams))
            self.layout.place(self.common * streams)
        else:
            self.streams_apart = None
            self.common = floor(min(1 / rate, 2.0**64))
            share = 1 / self.common
            self.special = max(0.0, (share - sqrt(max(0.0, rate * (1 + share) - share))) / (1 + share))
            self.layout.place(self.common + (self.special > 0))

    def draw(self, draw: _Draw, stream: np.ndarray):
        group = draw.below(self.common, _GROUP)
        if self.streams_apart:
            group = group * np.uint64(self.streams_apart) + stream
        else:
            group[draw.chance(self.special, _CHOICE)] = self.common
        return self.layout.keys(draw, stream, group)


class _Zipf:
    """For keys that are equal or near, groups of which few are frequent: the n-th has a share of 1 / n^s.

    There are as many as the key space holds, up to a limit; the exponent s makes the squares of the shares, the
    probability that two tuples draw the same group, add up to the match rate. For rate 0 each stream has groups of its
    own, and the exponent is 1, as it is without a rate.
    """

    def __init__(self, rate: float | None, space: int, streams: int, ranges: ClosedRanges, ranges2: ClosedRanges):
        self.layout = _Layout(space, ranges, ranges2)
        self.streams_apart = streams if rate == 0 else None
        ranks = min(_RANKS, max(1, self.layout.slots // (self.streams_apart or 1)))
        self.layout.place(ranks * (self.streams_apart or 1))
        shares = _shares(1.0, ranks) if not rate else self._fitting(rate, ranks)
        # In 53-bit integers, as draws are.
        self.thresholds = (np.cumsum(shares) * 2.0**53).astype(np.uint64)[:-1]

    def _fitting(self, rate: float, ranks: int) -> np.ndarray:
        if rate < 1 / ranks or (rate > 1 - 1e-9 and ranks > 1):
            if ranks == 1:
                raise ValueError("so narrow a key has room for one zipf key, which always matches: widen the key")
            least = float(Context(prec=3, rounding=ROUND_CEILING).create_decimal(1 / ranks))
            raise ValueError(f"{ranks} zipf keys match at rates from {least:g} to below 1: change the rate")
        low, high = 0.0, 64.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if float((_shares(middle, ranks) ** 2).sum()) < rate else (low, middle)
        return _shares(high, ranks)

    def draw(self, draw: _Draw, stream: np.ndarray):
        rank = np.searchsorted(self.thresholds, draw.bits(_GROUP) >> np.uint64(11), side="right").astype(np.uint64)
        group = rank * np.uint64(self.streams_apart) + stream if self.streams_apart else rank
        return self.layout.keys(draw, stream, group)


def _shares(exponent: float, ranks: int) -> np.ndarray:
    weights = np.arange(1, ranks + 1, dtype=float) ** -exponent
    return weights / weights.sum()


class _Inside:
    """Offsets within a group: every difference of one of R and one of S lies in [lo, hi], and none beyond ``reach``."""

    def __init__(self, lo: int, hi: int, space: int):
        lo, hi = max(lo, 1 - space), min(hi, space - 1)
        # R varies by half the range and S by the other half; the shift centres their difference on it.
        half = (hi - lo) // 2
        shift = hi - half
        self.shifts = (max(shift, 0), max(-shift, 0))
        self.sizes = (half + 1, hi - lo - half + 1)
        self.reach = max(s + size - 1 for s, size in zip(self.shifts, self.sizes, strict=True)) if lo <= hi else space

    def draw(self, draw: _Draw, stream: np.ndarray, purpose: int) -> np.ndarray:
        is_s = np.minimum(stream, 1)
        return np.array(self.shifts, np.uint64)[is_s] + draw.below(np.array(self.sizes, np.uint64)[is_s], purpose)
