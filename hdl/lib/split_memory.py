"""A memory whose depth need not be a power of two, without block RAM that is never used."""

from amaranth.hdl import Module, Signal
from amaranth.lib import memory
from amaranth.lib.wiring import In, Out
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.pipeline import delayed
from streamjoin.hdl.lib.ram import NEVER_COLLIDES


class SplitMemory(Part):
    """Writes a word and reads one in every cycle; what is written can be read from the second cycle on after that.

    Until then what is read is undefined. Words to be written pass a register, so that whoever sends them may be far
    from the block RAM.

    It is made of memories that are powers of two deep, the largest first: where one of 5120 words would take the block
    RAM of 8192, or a wide multiplexer behind five of 1024, there is one of 4096 and one of 1024.

    Parameters
    ----------
    shape
        What a word looks like.
    depth
        How many there are.

    Members
    -------
    enter, into, word
        A word to be written, and its address.
    asked
        The address of a word to be read.
    found
        That word, a cycle later.
    """

    def __init__(self, shape, depth: int):
        if depth < 1:
            raise ValueError(f"a memory has at least one word, not {depth}")
        self._shape = shape
        self._depth = depth
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
        start, chosen = 0, []
        into, word = delayed(m, self.into, 1, name="into"), delayed(m, self.word, 1, name="word")
        while start < self._depth:
            bits = (self._depth - start).bit_length() - 1
            piece = memory.Memory(shape=self._shape, depth=1 << bits, init=[], attrs=NEVER_COLLIDES)
            m.submodules[f"piece{len(chosen)}"] = piece
            write, read = piece.write_port(), piece.read_port()
            m.d.comb += [
                write.addr.eq(into[:bits]),
                write.data.eq(word),
                write.en.eq(delayed(m, self.enter & (self.into[bits:] == start >> bits), 1, resets=True, name="enter")),
                read.addr.eq(self.asked[:bits]),
            ]
            here = Signal(name=f"here{len(chosen)}")
            m.d.sync += here.eq(self.asked[bits:] == start >> bits)
            chosen.append((here, read.data))
            start += 1 << bits
        # The last piece is the one that is left.
        m.d.comb += self.found.eq(chosen[-1][1])
        for here, word in chosen[-2::-1]:
            with m.If(here):
                m.d.comb += self.found.eq(word)
        return m
