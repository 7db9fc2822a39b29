"""A checksum of results on the chip, whatever their order, and the same one in software."""

from collections.abc import Mapping

import numpy as np
from amaranth.hdl import Module, Mux, Shape, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.xorshift import MASK, WORD, xorshift32

_START = 0x9E3779B9


class ResultChecksum(Part):
    """Counts items and adds up a hash of each, modulo 2^32; takes one in every cycle.

    The hash takes the fields in words of 32 bits, one after the other: add the word, scramble. Sums and exclusive ors
    in turn are linear in neither sense; so two results that swapped partners show, though the total forgets their
    order. Adding and scrambling have a stage each: no path is longer than one sum of 32 bits.

    Parameters
    ----------
    layout
        The fields of an item.

    Members
    -------
    i
        Items; always ready.
    count, total
        How many, and the sum of their hashes: both ``latency`` cycles after an item was taken.
    """

    def __init__(self, layout: data.StructLayout):
        self.layout = layout
        # Where in its field each word begins.
        self._words = [
            (name, shift)
            for name, shape in layout.members.items()
            for shift in range(0, max(1, Shape.cast(shape).width), WORD)
        ]
        self.latency = 2 * len(self._words) + 2
        super().__init__({"i": In(stream.Signature(layout)), "count": Out(WORD), "total": Out(WORD)})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += self.i.ready.eq(1)

        def register(value, name):
            later = Signal(WORD, name=name, reset_less=True)
            m.d.sync += later.eq(value)
            return later

        waiting = [
            register(self.i.p[name][shift : shift + WORD], f"word{n}") for n, (name, shift) in enumerate(self._words)
        ]
        mixed = _START
        for n in range(len(waiting)):
            word, *waiting = waiting
            summed = register(mixed + word, f"sum{n}")
            waiting = [register(later, f"word{n + k}_after_sum{n}") for k, later in enumerate(waiting, 1)]
            mixed = register(xorshift32(summed), f"mixed{n}")
            waiting = [register(later, f"word{n + k}_after_mix{n}") for k, later in enumerate(waiting, 1)]

        # One bit for each stage that may hold an item.
        under_way = Signal(self.latency - 1)
        m.d.sync += [
            under_way.eq(under_way << 1 | self.i.valid),
            self.count.eq(self.count + under_way[-1]),
            self.total.eq(self.total + Mux(under_way[-1], mixed, 0)),
        ]
        return m

    def of(self, items: Mapping[str, np.ndarray]) -> tuple[int, int]:
        """Count and total of many items, given as an array for each field."""
        columns = {name: np.asarray(items[name]).astype(np.uint64) for name in self.layout.members}
        mixed = np.full(len(next(iter(columns.values()))), _START, np.uint64)
        for name, shift in self._words:
            # An array holds no field beyond 64 bits: what lies there is 0.
            word = (columns[name] >> np.uint64(shift)) & np.uint64(MASK) if shift < 2 * WORD else np.uint64(0)
            mixed = xorshift32((mixed + word) & np.uint64(MASK))
        return len(mixed) & MASK, int(mixed.sum()) & MASK
