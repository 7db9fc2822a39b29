"""The distribution network: tuples from a few lanes, each to the unit that is its home."""

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import exact_log2

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.merger import Merger


class Switch(Part):
    """Two streams in, two out: a bit of an item says by which one it leaves.

    Parameters
    ----------
    shape
        What an item looks like; it has a field ``home``.
    bit
        Which bit of that.
    depth
        Items that may wait for each output.

    Members
    -------
    i, o
        Items in, items out.
    busy
        Something is inside.
    """

    def __init__(self, shape: data.StructLayout, bit: int, depth: int):
        self._shape = shape
        self._bit = bit
        self._depth = depth
        ends = stream.Signature(shape)
        super().__init__({"i": In(ends).array(2), "o": Out(ends).array(2), "busy": Out(1)})

    def elaborate(self, platform):
        m = Module()
        mergers = [Merger(self._shape, self._depth) for _ in self.o]
        for n, merger in enumerate(mergers):
            m.submodules[f"merger{n}"] = merger
            connect(m, merger.o, flipped(self.o[n]))
        for side, port in enumerate(self.i):
            way = port.p.home[self._bit]
            for n, merger in enumerate(mergers):
                m.d.comb += [merger.i[side].p.eq(port.p), merger.i[side].valid.eq(port.valid & (way == n))]
            m.d.comb += port.ready.eq(Mux(way, mergers[1].i[side].ready, mergers[0].i[side].ready))
        m.d.comb += self.busy.eq(mergers[0].busy | mergers[1].busy)
        return m


class Distribution(Part):
    """A butterfly of switches, as many lanes as units.

    The lanes of each half have the tuples for the units of that half. A step for every further bit of ``home``
    exchanges lanes that differ in that bit; so after the last step an item is in the lane of its home, by way of
    neighbours of neighbours only. Tuples of one lane for one home stay in order; else they may overtake each other.

    Parameters
    ----------
    shape
        What an item looks like; it has a field ``home``.
    units
        A power of two.
    depth
        Items that may wait in front of each lane of each step.

    Members
    -------
    i, o
        Items in, and for each unit those that have their home there.
    busy
        Something is inside.
    """

    def __init__(self, shape: data.StructLayout, units: int, depth: int):
        self._shape = shape
        self._units = units
        self._depth = depth
        ends = stream.Signature(shape)
        super().__init__({"i": In(ends).array(units), "o": Out(ends).array(units), "busy": Out(1)})

    def elaborate(self, platform):
        m = Module()
        lanes = [flipped(port) for port in self.i]
        busy = []
        for bit in range(exact_log2(self._units) - 1):
            after = list(lanes)
            for n in (n for n in range(self._units) if not n >> bit & 1):
                switch = Switch(self._shape, bit, self._depth)
                m.submodules[f"step{bit}_{n}"] = switch
                for side, lane in enumerate((n, n | 1 << bit)):
                    connect(m, lanes[lane], switch.i[side])
                    after[lane] = switch.o[side]
                busy.append(switch.busy)
            lanes = after
        for lane, port in zip(lanes, self.o, strict=True):
            connect(m, lane, flipped(port))
        m.d.sync += self.busy.eq(Cat(busy).any())
        return m
