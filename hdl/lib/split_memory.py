"""A memory whose depth need not be a power of two, without block RAM that is never used and without far wires."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.control_tree import Relay
from streamjoin.hdl.lib.pipeline import delayed
from streamjoin.hdl.lib.ram import NEVER_COLLIDES

#: Bits of a word that share the registers of an address.
SHARE = 16


class SplitMemory(Part):
    """Writes a word and reads one in every cycle; what is written can be read from the second cycle on after that.

    Until then what is read is undefined.

    It is made of memories that are powers of two deep, the largest first: where one of 5120 words would take the block
    RAM of 8192, or a wide multiplexer behind five of 1024, there is one of 4096 and one of 1024. The block RAMs of a
    wide and deep one stand far apart, and a register that has to reach all of them sets the clock. So ``relayed``
    memories are sliced, 16 bits of a word each, and each slice has registers of its own for what comes to it.

    Parameters
    ----------
    shape
        What a word looks like.
    depth
        How many there are.
    relayed
        Whether addresses, too, pass a register, one in each slice.

    Members
    -------
    enter, into, word
        A word to be written, and its address.
    asked
        The address of a word to be read.
    found
        That word, a cycle later; two cycles later if the memory is relayed.
    """

    def __init__(self, shape, depth: int, *, relayed: bool = False):
        if depth < 1:
            raise ValueError(f"a memory has at least one word, not {depth}")
        self._shape = shape
        self._depth = depth
        self._relayed = relayed
        address = ceil_log2(depth)
        super().__init__(
            {
                "enter": In(1),
                "into": In(address),
                "word": In(shape),
                "asked": In(address),
                "found": Out(shape),
            }
        )

    def elaborate(self, platform):
        m = Module()
        word = Value.cast(self.word)
        share = SHARE if self._relayed else max(1, len(word))
        found = [self._slice(m, n, word[at : at + share]) for n, at in enumerate(range(0, len(word), share))]
        m.d.comb += Value.cast(self.found).eq(Cat(found))
        return m

    def _slice(self, m, number: int, word: Value) -> Value:
        """Some bits of all words: what they are in the one that is asked for."""
        word = delayed(m, word, 1, name=f"word{number}")
        if self._relayed:
            into, asked, enter = (self._relay(m, f"{name}{number}") for name in ("into", "asked", "enter"))
        else:
            into, asked = delayed(m, self.into, 1, name="into"), self.asked
            enter = delayed(m, self.enter, 1, resets=True, name="enter")
        start, pieces = 0, []
        while start < self._depth:
            bits = (self._depth - start).bit_length() - 1
            piece = memory.Memory(shape=len(word), depth=1 << bits, init=[], attrs=NEVER_COLLIDES)
            m.submodules[f"slice{number}_piece{len(pieces)}"] = piece
            write, read = piece.write_port(), piece.read_port()
            m.d.comb += [
                write.addr.eq(into[:bits]),
                write.data.eq(word),
                write.en.eq(enter & (into[bits:] == start >> bits)),
                read.addr.eq(asked[:bits]),
            ]
            here = Signal(name=f"here{number}_{len(pieces)}")
            m.d.sync += here.eq(asked[bits:] == start >> bits)
            pieces.append((here, read.data))
            start += 1 << bits
        # The last piece is the one that is left.
        found = Signal(len(word), name=f"found{number}")
        m.d.comb += found.eq(pieces[-1][1])
        for here, data in pieces[-2::-1]:
            with m.If(here):
                m.d.comb += found.eq(data)
        return found

    def _relay(self, m, name: str) -> Value:
        """A register of a slice's own."""
        source = getattr(self, name.rstrip("0123456789"))
        relay = Relay(len(source), resets=source is self.enter)
        m.submodules[f"{name}_relay"] = relay
        m.d.comb += relay.i.eq(source)
        return relay.o
