"""The tuple generator of a self-test on the chip, and the same tuples in software."""

from itertools import accumulate

import numpy as np
from amaranth.hdl import Module, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import Out
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.xorshift import MASK, WORD, xorshift32
from streamjoin.reference.arrivals import Arrivals

#: Keys are drawn from at most so many bits; a second key comes from the other half of the random word.
MOST_KEY_BITS = 12
# The reference computes in signed 64-bit integers, and a predicate may add two keys.
_WIDEST = 62


class PairGenerator(Part):
    """Offers ``pairs`` pairs of tuples, the first of R and the second of S, and then no more.

    The n-th pair has the arrival numbers 2n and 2n + 1 in its payloads, with random bits above them, lest those never
    move, and as timestamps the numbers shifted down. Keys come from one xorshift32 word for each stream and are small,
    lest no two are equal; one in eight has its highest bit set besides, lest the upper bits of comparators go untested.
    All of it is a function of the seed and n, which :meth:`arrivals` computes in software.

    A pair can be taken in every cycle. What is offered comes straight out of registers.

    Parameters
    ----------
    layout
        Layouts.
    pairs, key_bits, seed
        How many pairs, of keys of how many bits, and which.
    time_shift
        How many bits timestamps are shifted down; more if the last one would not fit.

    Members
    -------
    o
        Pairs of tuples, with fields ``r`` and ``s``.
    """

    def __init__(self, layout: TupleLayout, *, pairs: int, key_bits: int, seed: int, time_shift: int = 0):
        if pairs < 1:
            raise ValueError(f"a generator makes at least one pair, not {pairs}")
        self.layout = layout
        self.pairs = pairs
        self.key_bits = min(key_bits, MOST_KEY_BITS, layout.arrival["key"].width)
        # Neither may be 0, which scrambles to itself, and the two streams must not run alike.
        self._seeds = {"r": xorshift32(2 * seed + 1 & MASK) or 1, "s": xorshift32(~(2 * seed + 1) & MASK) or 2}
        numbers = ceil_log2(2 * pairs)
        times = layout.arrival["time"].width if layout.spans is not None else numbers
        self._time_shift = max(time_shift, numbers - times)
        super().__init__({"o": Out(stream.Signature(data.StructLayout({"r": layout.arrival, "s": layout.arrival})))})

    def elaborate(self, platform):
        m = Module()
        words = {side: Signal(WORD, init=seed, name=f"word_{side}") for side, seed in self._seeds.items()}
        number = Signal(ceil_log2(2 * self.pairs))
        left = Signal(range(self.pairs + 1), init=self.pairs)
        more = Signal(init=1)
        taken = Signal()
        m.d.comb += [self.o.valid.eq(more), taken.eq(self.o.valid & self.o.ready)]
        with m.If(taken):
            m.d.sync += [word.eq(xorshift32(word)) for word in words.values()]
            m.d.sync += [number.eq(number + 2), left.eq(left - 1), more.eq(left != 1)]
        for later, (side, word) in enumerate(words.items()):
            fields = self._fields(word, number | later)
            m.d.comb += [self.o.p[side][name].eq(value) for name, value in fields.items()]
        return m

    def arrivals(self) -> Arrivals:
        """All tuples, in their order of arrival."""
        words = np.empty(2 * self.pairs, np.uint64)
        for first, seed in enumerate(self._seeds.values()):
            words[first::2] = list(accumulate(range(1, self.pairs), lambda word, _: xorshift32(word), initial=seed))
        number = np.arange(len(words), dtype=np.uint64)
        return Arrivals(stream=number % 2, **self._fields(words, number))

    def _fields(self, word, number) -> dict:
        """The fields of the tuple with this arrival number: signals of signals, or arrays of arrays."""
        arrival, half = self.layout.arrival, WORD // 2
        fields = {
            name: self._key(word >> (half * n), arrival[name].width)
            for n, name in enumerate(("key", "key2"))
            if name in arrival.members
        }
        if self.layout.spans is not None:
            fields["time"] = number >> self._time_shift
        payload = number | ((word | (word << WORD)) << ceil_log2(2 * self.pairs))
        return {**fields, "payload": payload & ((1 << min(arrival["payload"].width, _WIDEST)) - 1)}

    def _key(self, bits, width: int):
        """A key of ``key_bits`` bits of a random half word; the three above them decide on the highest bit."""
        key = bits & ((1 << self.key_bits) - 1)
        highest = min(width, _WIDEST) - 1
        if highest < self.key_bits:
            return key
        chosen = (bits >> self.key_bits) & 7
        return key | ((((chosen + 1) >> 3) & 1) << highest)
