"""The harness feeds its component from one pin, folds all outputs into another, and registers both and the reset."""

from amaranth.hdl import Cat, Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from streamjoin.synth.flow.harness import Harness


class Passing(wiring.Component):
    """Inputs through one register to the outputs; a reset makes them ones."""

    i: In(stream.Signature(9))
    o: Out(9, init=0x1FF)
    seen: Out(1)

    def elaborate(self, _) -> Module:
        m = Module()
        m.d.sync += self.o.eq(self.i.p)
        m.d.comb += [self.i.ready.eq(1), self.seen.eq(self.i.valid)]
        return m


class Constant(wiring.Component):
    """No inputs at all."""

    o: Out(1, init=1)

    def elaborate(self, _) -> Module:
        return Module()


def clocked(harness, bits, resets=()):
    """What ``sample`` sees before each edge, and the pin, while ``bits`` enter."""
    seen = []

    async def bench(ctx):
        for cycle, bit in enumerate(bits):
            ctx.set(harness.shift_in, bit)
            ctx.set(harness.rst, cycle in resets)
            await ctx.delay(1e-6)
            dut = harness.dut
            outputs = Cat(value for _, member, value in dut.signature.flatten(dut) if member.flow == Out)
            inputs = [value for _, member, value in dut.signature.flatten(dut) if member.flow == In]
            seen.append((ctx.get(Cat(inputs)), ctx.get(outputs), ctx.get(harness.fold_out)))
            ctx.set(harness.clk, 1)
            await ctx.delay(1e-6)
            ctx.set(harness.clk, 0)

    simulator = Simulator(harness)
    simulator.add_testbench(bench)
    simulator.run()
    return seen


BITS = [int(bit) for bit in f"{0x9E3779B97F4A7C15F39CC0605CEDC834:0128b}"]


def test_inputs_are_the_bits_shifted_in():
    seen = clocked(Harness(Passing()), BITS)
    width = 10  # payload and valid; ready goes the other way
    for cycle in range(width, len(BITS)):
        newest_first = BITS[cycle - width : cycle][::-1]
        assert seen[cycle][0] == sum(bit << place for place, bit in enumerate(newest_first))


def test_every_output_reaches_the_pin():
    harness = Harness(Passing())
    assert harness.latency == 3  # 11 bits, then 3, then 1
    seen = clocked(harness, BITS)
    for cycle in range(harness.latency, len(BITS)):
        outputs = seen[cycle - harness.latency][1]
        assert seen[cycle][2] == outputs.bit_count() % 2


def test_reset_comes_one_cycle_later():
    harness = Harness(Passing())
    seen = clocked(harness, [0] * 40, resets={20})
    payload = [outputs >> 1 & 0x1FF for _, outputs, _ in seen]  # beside i.ready and seen
    assert payload[15:21] == [0] * 6
    assert payload[21:24] == [0, 0x1FF, 0]


def test_a_component_without_inputs():
    assert [pin for *_, pin in clocked(Harness(Constant()), [0] * 4)][1:] == [1, 1, 1]
