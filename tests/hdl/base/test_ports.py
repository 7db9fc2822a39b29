"""Inputs and control ports reach the gate inside a component, and what it says of itself comes out."""

from amaranth.hdl import Module
from amaranth.lib.wiring import In
from amaranth.sim import Simulator

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import CONTROL, connect_gate, input_ports
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.reference.predicates import parse_predicate

LAYOUT = TupleLayout(parse_predicate("equi"), key_width=4, payload_width=4)


class Gate(Part):
    """Control ports that show what it is given: the inputs, and whether to drain."""

    def __init__(self):
        super().__init__({**input_ports(LAYOUT), **CONTROL})

    def elaborate(self, platform):
        m = Module()
        m.d.comb += [
            self.i_r.ready.eq(self.i_s.valid),
            self.i_s.ready.eq(self.drain),
            self.drained.eq(self.drain),
            self.halted.eq(self.i_r.valid),
            self.discarding.eq(self.i_s.valid),
            self.dropped.eq(self.i_r.p.key),
            self.overflows.eq(self.i_s.p.payload),
        ]
        return m


class Owner(Part):
    """Nothing but the gate inside."""

    def __init__(self):
        super().__init__({**input_ports(LAYOUT), **CONTROL})

    def elaborate(self, platform):
        m = Module()
        m.submodules.gate = gate = Gate()
        connect_gate(m, self, gate, LAYOUT)
        return m


def test_a_gate_has_the_inputs_and_control_ports_of_its_owner():
    dut = Owner()

    async def bench(ctx):
        for drain, valid_r, valid_s in ((0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)):
            ctx.set(dut.drain, drain)
            ctx.set(dut.i_r.valid, valid_r)
            ctx.set(dut.i_s.valid, valid_s)
            ctx.set(dut.i_r.p.key, 9)
            ctx.set(dut.i_s.p.payload, 5)
            assert (ctx.get(dut.i_r.ready), ctx.get(dut.i_s.ready)) == (valid_s, drain)
            assert (ctx.get(dut.drained), ctx.get(dut.halted), ctx.get(dut.discarding)) == (drain, valid_r, valid_s)
            assert (ctx.get(dut.dropped), ctx.get(dut.overflows)) == (9, 5)

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()


def test_every_side_has_an_input():
    sides = {"sides": ("s1", "s2", "s3")}
    layout = TupleLayout(parse_predicate("equi"), key_width=4, payload_width=4, **sides)
    assert list(input_ports(layout)) == ["i_s1", "i_s2", "i_s3"]
    assert all(port.flow == In for port in input_ports(layout).values())
