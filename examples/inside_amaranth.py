"""A join inside a design of one's own: two sources of keys feed it, and what comes out is counted.

Run it, and it simulates the design for a few hundred cycles and writes it as ``counted_matches.v``, with a
manifest of its ports beside it.
"""

from pathlib import Path

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

import streamjoin as sj
from streamjoin.sim.verilog.generate import generate

JOIN = sj.join("handshake", cores=4, window=16, key_width=8, payload_width=8, predicate="band:1")


class Counter(wiring.Component):
    """A stream of tuples whose keys go up by ``step``, from 0 on; the payload is the number of the tuple.

    Parameters
    ----------
    layout
        What a tuple looks like: the shape of the payload of the port that it is fed into.
    step
        By how much each key exceeds the last.

    Members
    -------
    enable
        Whether to offer tuples.
    o
        The tuples. One that is offered stays until it is taken.
    """

    def __init__(self, layout, *, step: int):
        super().__init__({"enable": In(1), "o": Out(stream.Signature(layout))})
        self._step = step

    def elaborate(self, _platform) -> Module:
        m = Module()
        m.d.comb += self.o.valid.eq(self.enable)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += [
                self.o.payload.key.eq(self.o.payload.key + self._step),
                self.o.payload.payload.eq(self.o.payload.payload + 1),
            ]
        return m


class CountedMatches(wiring.Component):
    """How many pairs a join finds between two counters, one going up by 3 and the other by 2.

    Members
    -------
    enable
        Whether tuples are offered to the join.
    drain, drained
        The join's own: after the last tuple, raise ``drain`` and keep it up; ``drained`` says that all results are out.
    taken
        How many tuples of each stream the join has taken.
    count
        How many results there have been.
    """

    enable: In(1)
    drain: In(1)
    drained: Out(1)
    taken: Out(16)
    count: Out(16)

    def elaborate(self, _platform) -> Module:
        m = Module()
        m.submodules.join = join = JOIN.component()
        layout = join.i_r.payload.shape()
        m.submodules.r = r = Counter(layout, step=3)
        m.submodules.s = s = Counter(layout, step=2)
        wiring.connect(m, r.o, join.i_r)
        wiring.connect(m, s.o, join.i_s)
        m.d.comb += [
            r.enable.eq(self.enable),
            s.enable.eq(self.enable),
            join.drain.eq(self.drain),
            self.drained.eq(join.drained),
            join.o_result.ready.eq(1),
        ]
        with m.If(join.i_r.valid & join.i_r.ready):  # all inputs of a join share one ready
            m.d.sync += self.taken.eq(self.taken + 1)
        with m.If(join.o_result.valid):
            m.d.sync += self.count.eq(self.count + 1)
        return m


def simulate(cycles: int) -> tuple[int, int]:
    """How many tuples of each stream are taken in so many cycles, and how many pairs are found among them."""
    design, counted = CountedMatches(), []

    async def bench(ctx):
        ctx.set(design.enable, 1)
        await ctx.tick().repeat(cycles)
        ctx.set(design.enable, 0)
        ctx.set(design.drain, 1)
        await ctx.tick().until(design.drained)
        counted.extend((ctx.get(design.taken), ctx.get(design.count)))

    simulator = Simulator(design)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    taken, count = counted
    return taken, count


def write(path: Path) -> None:
    """The whole design as Verilog, in which each kind of part stands once.

    Amaranth's own ``verilog.convert`` does it, too, where Yosys is installed.
    """
    generate(CountedMatches(), path.stem).write(path)


if __name__ == "__main__":
    print("{} tuples of each stream, {} pairs".format(*simulate(200)))
    write(Path("counted_matches.v"))
