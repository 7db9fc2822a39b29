"""`Workload` once more, in plain Python and for one tuple at a time: what the arrays are held to."""

from bisect import bisect_right
from itertools import accumulate
from math import floor, sqrt

from streamjoin.reference.arrivals import Row

MASK = (1 << 64) - 1
STREAM, BURST_END, TIME, PAYLOAD, CHOICE, GROUP, SLOT, SLOT2, KEY, KEY2, SIDE, PHASE = range(12)


def mix(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class PlainWorkload:
    """Tuples as a `Workload` of two streams with a match rate makes them, for predicates of equal or near keys."""

    def __init__(self, workload):
        self.workload = workload
        self.space = 1 << workload.key_width
        ranges = workload.predicate.key_ranges
        self.low, self.high = ranges[0]
        self.distance = min(self.space, 1 + 2 * max(abs(bound) for pair in ranges for bound in pair))
        half = (self.high - self.low) // 2
        shift = self.high - half
        self.shifts = max(shift, 0), max(-shift, 0)
        self.sizes = half + 1, self.high - self.low - half + 1
        reach = max(self.shifts[0] + self.sizes[0], self.shifts[1] + self.sizes[1]) - 1
        self.slots = (self.space - 1 - reach) // self.distance + 1
        (self._prepare_zipf if workload.keys == "zipf" else self._prepare_groups)()

    def _prepare_groups(self):
        rate = self.workload.match_rate
        self.common = floor(1 / rate)
        share = 1 / self.common
        self.special = max(0.0, (share - sqrt(max(0.0, rate * (1 + share) - share))) / (1 + share))
        self.groups = self.common + (self.special > 0)

    def _prepare_zipf(self):
        self.groups = min(1 << 16, self.slots)

        def shares(exponent):
            weights = [rank**-exponent for rank in range(1, self.groups + 1)]
            whole = sum(weights)
            return [weight / whole for weight in weights]

        low, high = 0.0, 64.0
        while high - low > 1e-12:
            middle = (low + high) / 2
            enough = sum(share * share for share in shares(middle)) >= self.workload.match_rate
            low, high = (low, middle) if enough else (middle, high)
        self.thresholds = [floor(reached * 2**53) for reached in accumulate(shares(high))][:-1]

    def bits(self, purpose, number):
        lane = mix((mix(self.workload.seed & MASK) + purpose) & MASK)
        return mix((lane + number * 0x9E3779B97F4A7C15) & MASK)

    def row(self, position):
        stream = self.stream(position)
        group = self.group(position)
        where = group
        if self.workload.keys == "drifting":
            version = (position + self.bits(PHASE, group) % self.workload.drift) // self.workload.drift
            where = (group + version * self.groups) & MASK
        stride = self.slots // self.groups
        slot = group * stride + self.bits(SLOT, where) % stride
        key = slot * self.distance + self.shifts[stream] + self.bits(KEY, position) % self.sizes[stream]
        return Row(stream, key, time=(position + self.bits(TIME, position) % 2) // self.workload.tuples_per_tick)

    def stream(self, position):
        match self.workload.arrivals:
            case "alternating":
                return position % 2
            case "random":
                return self.bits(STREAM, position) % 2
            case "bursty":
                stretch, offset = divmod(position, 32)
                return self.bits(STREAM, stretch + (offset >= self.bits(BURST_END, stretch) % 32)) % 2
            case "one-sided":
                return int(self.bits(SIDE, position) % 16 == 0)

    def group(self, position):
        draw = self.bits(GROUP, position)
        if self.workload.keys == "zipf":
            return bisect_right(self.thresholds, draw >> 11)
        chosen = (self.bits(CHOICE, position) >> 11) * 2.0**-53 < self.special
        return self.common if chosen else draw % self.common
