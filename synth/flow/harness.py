"""A frame around a component that keeps a chip's pins out of its timing."""

from typing import Any

from amaranth.hdl import Cat, ClockDomain, Module, Signal, Value
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Ported

# Four bits fit the smallest look-up table of all targets: each stage of the fold is one level of logic.
_FOLD = 4


class Harness(Ported):
    """``dut`` between registers, reachable through four pins however many ports it has.

    All inputs of the component come from one long shift register, all its outputs go into registers and from there
    through a pipelined tree of XOR gates into one pin. So every path that starts or ends at a port of the component
    starts or ends at a register beside it, nothing can be optimised away, and the longest path is the component's own.

    Parameters
    ----------
    dut
        Any component whose registers are in the domain ``sync``.

    Members
    -------
    clk
        The clock of everything.
    rst
        Resets the component one cycle later: it, too, is registered.
    shift_in
        Enters the shift register, which holds the inputs in the order of the signature, one bit in each cycle.
    fold_out
        The exclusive or of all outputs, :attr:`latency` cycles later.
    """

    def __init__(self, dut: Ported):
        self.dut = dut
        super().__init__({"clk": In(1), "rst": In(1), "shift_in": In(1), "fold_out": Out(1)})

    @property
    def latency(self) -> int:
        """Cycles from the component's outputs to ``fold_out``."""
        width = sum(len(Value.cast(port)) for port in self._ports(Out))
        stages = 1
        while width > 1:
            width = -(-width // _FOLD)
            stages += 1
        return stages

    def elaborate(self, platform) -> Module:
        m = Module()
        sync: Any  # the stubs leave out what a clock domain has
        frame: Any
        m.domains.sync = sync = ClockDomain()
        m.domains.frame = frame = ClockDomain(reset_less=True)
        m.submodules.dut = self.dut
        m.d.comb += [sync.clk.eq(self.clk), frame.clk.eq(self.clk)]
        m.d.frame += sync.rst.eq(self.rst)

        inputs = Cat(self._ports(In))
        if len(inputs):
            shift = Signal(len(inputs))
            m.d.frame += shift.eq(Cat(self.shift_in, shift))
            m.d.comb += inputs.eq(shift)

        outputs = Cat(self._ports(Out))
        bits = Signal(max(len(outputs), 1), name="outputs")
        m.d.frame += bits.eq(outputs)
        while len(bits) > 1:
            folded = Signal(-(-len(bits) // _FOLD), name=f"fold_{len(bits)}")
            m.d.frame += folded.eq(Cat(bits[at : at + _FOLD].xor() for at in range(0, len(bits), _FOLD)))
            bits = folded
        m.d.comb += self.fold_out.eq(bits)
        return m

    def _ports(self, flow) -> list[Value]:
        return [Value.cast(value) for _, member, value in self.dut.signature.flatten(self.dut) if member.flow == flow]
