"""Which keys share a bucket, and which buckets a tuple looks up."""

from collections.abc import Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Signal, Value, ValueLike, signed
from amaranth.utils import ceil_log2

from streamjoin.hdl.lib.hashing import scattered

#: So many groups have a home together, as a power of two: of few tuples only the interval then touches two homes.
_BLOCK = 2


@dataclass(frozen=True)
class KeyGroups:
    """Keys in groups so wide that all a tuple can match lies in two neighbouring ones.

    ``r.key - s.key`` lies between ``lo`` and ``hi`` wherever the predicate holds. Groups are of 2^``shift`` keys, at
    least as many as ``hi - lo``: so an interval of ``hi - lo + 1`` keys, which is where the partners of a tuple lie,
    touches two groups at most, an even one and an odd one. The table of a stream has two *banks*, one for each kind;
    so both groups are looked up in the same cycle, whatever the key. Where ``lo`` and ``hi`` are the same, as in an
    equi-join, a group is one key and one bank will do.

    Why a pair is found once. A tuple is in the bank of its group's parity. Of a pair for which the predicate holds,
    the group of the earlier tuple is one of the two that the later one looks up, by the parity of that group; and it
    counts only if it is found in the bank of its own parity (:meth:`of_bank`).

    Which bucket of a bank. A group and its neighbour are 2g and 2g + 1, or 2g - 1 and 2g; in the first case both have
    the number g in their banks, in the second one g - 1 and g. So the odd bank is asked for the number of the
    interval's lower end, the even bank for that of its upper end, without looking which case it is. Ends beyond the
    range of keys wrap round, to groups in which no tuple satisfies the predicate.

    Parameters
    ----------
    lo, hi
        Bounds of ``r.key - s.key``.
    key_width
        Bits of a key.
    seed
        Of the hash function.
    home_bits
        How many further bits of it tell in which unit a tuple has its home.
    """

    lo: int
    hi: int
    key_width: int
    seed: int
    home_bits: int = 0

    @property
    def copies(self) -> bool:
        """Whether a tuple of R may have two homes."""
        return self.banks == 2 and self.home_bits > 0

    @property
    def banks(self) -> int:
        return 1 if self.lo == self.hi else 2

    @property
    def shift(self) -> int:
        return ceil_log2(self.hi - self.lo) if self.banks == 2 else 0

    def parity(self, key: Value) -> Value:
        """The bank in which a tuple is stored."""
        return key[self.shift] if self.banks == 2 and self.shift < self.key_width else Const(0, 1)

    def of_bank(self, key: Value, bank: ValueLike) -> Value:
        """Whether a tuple that was found in a bank belongs there."""
        return Const(1, 1) if self.banks == 1 else self.parity(key) == bank

    def stored(self, key: Value, buckets: int) -> Value:
        """The bucket of its bank in which a tuple is stored."""
        return self._bucket(key, buckets)

    def ends(self, m: Module, side: str, key: Value) -> Sequence[Value]:
        """Lower and upper end of the interval in which the partners of a tuple of this side lie, a cycle later."""
        if self.lo == self.hi == 0:
            ends = [Signal(self.key_width, name=f"end_{side}", reset_less=True)]
            m.d.sync += ends[0].eq(key)
            return ends * 2
        lower, upper = (self.lo, self.hi) if side == "s" else (-self.hi, -self.lo)
        width = 2 + max(self.key_width, self.shift, lower.bit_length(), upper.bit_length())
        ends = [Signal(signed(width), name=f"{name}_{side}", reset_less=True) for name in ("lower", "upper")]
        m.d.sync += [ends[0].eq(key + lower), ends[1].eq(key + upper)]
        return ends

    def looked_up(self, ends: Sequence[Value], buckets: int) -> list[Value]:
        """The bucket that is looked up in each bank."""
        lower, upper = ends
        return [self._bucket(end, buckets) for end in ((upper, lower) if self.banks == 2 else (lower,))]

    def wanted(self, ends: Sequence[Value]) -> Value:
        """A bit for each bank: there is a group of its parity in the interval."""
        if self.banks == 1:
            return Const(1, 1)
        parities = Cat(end[self.shift] for end in ends)
        return Cat(~parities.all(), parities.any())

    def homes(self, m: Module, side: str, key: Value) -> list[Value]:
        """Where a tuple has its home, a cycle later; a tuple of R may have two.

        Homes are drawn by blocks of neighbouring groups. A tuple of S has one, by its key. A tuple of R has a home
        wherever a partner may have one: its interval lies in one block, or in two. If these have the same home, so has
        the tuple, once.
        """
        if side == "s":
            own = Signal(self.key_width, name="own_key", reset_less=True)
            m.d.sync += own.eq(key)
            ends = [own]
        else:
            ends = list(self.ends(m, side, key))[: self.banks]
        block = _BLOCK if self.banks == 2 else 0
        return [scattered(self._number(end)[block:], self.home_bits, self.seed) for end in ends]

    def _bucket(self, key: Value, buckets: int) -> Value:
        # Keys that are near to each other go to different homes first, then to different buckets.
        return scattered(self._number(key), self.home_bits + ceil_log2(buckets), self.seed)[self.home_bits :]

    def _number(self, key: Value) -> Value:
        """Of the group and its neighbour."""
        return key[min(self.shift + self.banks - 1, self.key_width) : self.key_width]
