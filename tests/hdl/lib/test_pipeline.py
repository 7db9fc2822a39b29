"""Pipeline registers: what a value was so many cycles ago."""

import pytest
from amaranth.hdl import Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.lib.pipeline import delayed
from tests.hdl.stream_bench import stepped

VALUES = [5, 3, 3, 6, 0, 7, 1, 2]


class Delays(wiring.Component):
    """A value, late: once with registers that a reset clears, once with others."""

    i: In(3)
    clear: In(1)
    resetting: Out(3)
    lasting: Out(3)

    def __init__(self, cycles: int):
        self._cycles = cycles
        super().__init__()

    def elaborate(self, _):
        m = Module()
        m.d.comb += [
            self.resetting.eq(delayed(m, self.i, self._cycles, resets=True)),
            self.lasting.eq(delayed(m, self.i, self._cycles)),
        ]
        return ResetInserter(self.clear)(m)


@pytest.mark.parametrize("cycles", [0, 1, 2, 5])
def test_a_value_comes_so_many_cycles_later(cycles):
    seen = stepped(Delays(cycles), [{"i": value} for value in VALUES], ["resetting", "lasting"])
    late = ([0] * cycles + VALUES)[: len(VALUES)]
    assert seen == [(value, value) for value in late]


def test_a_reset_clears_what_is_under_way_where_that_is_wanted():
    steps = [{"i": value, "clear": n == 4} for n, value in enumerate(VALUES)]
    seen = stepped(Delays(2), steps, ["resetting", "lasting"])
    assert [last for _, last in seen] == [0, 0, *VALUES[:-2]]
    assert [first for first, _ in seen] == [0, 0, *VALUES[:3], 0, 0, VALUES[5]]


def test_no_cycles_are_no_registers():
    m, value = Module(), Signal(3)
    assert delayed(m, value, 0) is value
