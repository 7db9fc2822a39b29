"""A design with ports for several tuples and results a cycle, on which all that reads such ports is tested."""

import dataclasses

from amaranth.hdl import Array, Module, Signal
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.parameters import parameter
from streamjoin.hdl.base.part import Ported
from streamjoin.hdl.base.ports import CONTROL, join_ports
from streamjoin.hdl.nested_loop.join import NestedLoopJoin
from streamjoin.hdl.nested_loop.parameters import NestedLoopParameters


@dataclasses.dataclass(frozen=True, kw_only=True)
class WideParameters(NestedLoopParameters):
    """Those of a nested-loop join, and how wide its ports are."""

    width: int = parameter(2, "tuples of each stream that enter in a cycle", samples=(1, 2, 3, 4))
    results: int = parameter(2, "results that leave in a cycle", samples=(1, 2, 3))

    @property
    def inner(self) -> NestedLoopParameters:
        """Of the join behind the ports, which takes one tuple after the other."""
        given = {name: getattr(self, name) for name in NestedLoopParameters.names()}
        # A transfer is thrown away before it comes so far, and as a whole.
        return NestedLoopParameters(**given | ({"on_full": "stall"} if self.width > 1 else {}))


class WideJoin(Ported):
    """A nested-loop join behind wide ports: tuples go into it one after the other, results are gathered.

    Parameters
    ----------
    parameters
        Windows, predicate, and how wide.
    fault
        How it is wrong, for tests that have to notice: ``torn`` takes R alone, ``empty`` offers transfers without
        results, ``late`` lets all S tuples of a transfer come after its R tuples, ``beyond`` takes one more R tuple
        than there are.
    """

    def __init__(self, parameters: WideParameters, fault: str = ""):
        self._parameters, self._fault = parameters, fault
        super().__init__(join_ports(parameters.layout))

    def elaborate(self, platform):
        m = Module()
        m.submodules.inner = inner = NestedLoopJoin(self._parameters.inner)
        for name in CONTROL.keys() - {"drain", "drained"}:
            m.d.comb += getattr(self, name).eq(getattr(inner, name))
        if self._parameters.width == 1:
            connect(m, flipped(self.i_r), inner.i_r)
            connect(m, flipped(self.i_s), inner.i_s)
            m.d.comb += inner.drain.eq(self.drain)
        else:
            self._one_after_the_other(m, inner)
        gathered = self._gather(m, inner.o_result)
        m.d.comb += self.drained.eq(inner.drained & ~gathered)
        return m

    def _one_after_the_other(self, m, inner):
        r, s = Signal.like(self.i_r.p), Signal.like(self.i_s.p)
        next_r, next_s = Signal.like(r.count), Signal.like(s.count)
        busy, draining, taking, taken = Signal(), Signal(), Signal(), Signal()
        r_left, s_left, r_first = Signal(), Signal(), Signal()
        slot_r, slot_s = Array(r.slots)[next_r], Array(s.slots)[next_s]
        m.d.sync += draining.eq(draining | self.drain)
        m.d.comb += [
            r_left.eq(next_r < r.count + (self._fault == "beyond")),
            s_left.eq(next_s < s.count),
            busy.eq(r_left | s_left),
            taking.eq(~busy & ~draining & ~self.drain),
            self.i_r.ready.eq(taking | self.discarding),
            self.i_s.ready.eq((taking & (self._fault != "torn")) | self.discarding),
            self.discarding.eq(busy & inner.halted & (self._parameters.on_full == "drop")),
            taken.eq(taking & self.i_r.valid & self.i_s.valid),
            inner.drain.eq(draining & ~busy),
            r_first.eq(r_left & (~s_left | (slot_s.after > next_r) | (self._fault == "late"))),
            inner.i_r.valid.eq(r_first),
            inner.i_s.valid.eq(s_left & ~r_first),
            *(inner.i_r.p[name].eq(slot_r[name]) for name in inner.i_r.p.shape().members),
            *(inner.i_s.p[name].eq(slot_s[name]) for name in inner.i_s.p.shape().members),
        ]
        m.d.sync += [
            next_r.eq(next_r + (inner.i_r.valid & inner.i_r.ready)),
            next_s.eq(next_s + (inner.i_s.valid & inner.i_s.ready)),
        ]
        with m.If(taken):
            m.d.sync += [r.eq(self.i_r.p), s.eq(self.i_s.p), next_r.eq(0), next_s.eq(0)]
        dropped = Signal.like(self.dropped)
        m.d.comb += self.dropped.eq(dropped)
        with m.If(self.discarding & self.i_r.valid & self.i_s.valid):
            m.d.sync += dropped.eq(dropped + self.i_r.p.count + self.i_s.p.count)

    def _gather(self, m, results):
        """Offer what has come when nothing follows, or when no more would fit; returns whether there is something."""
        out, width = self.o_result, self._parameters.results
        if width == 1:
            connect(m, results, flipped(out))
            return 0
        m.d.comb += results.ready.eq(~out.valid)
        with m.If(out.valid & out.ready):
            m.d.sync += [out.valid.eq(0), out.p.count.eq(0)]
        with m.Elif(~out.valid & results.valid):
            m.d.sync += [
                Array(out.p.slots)[out.p.count].eq(results.p),
                out.p.count.eq(out.p.count + 1),
                out.valid.eq(out.p.count == width - 1),
            ]
        with m.Elif((out.p.count != 0) | (self._fault == "empty")):
            m.d.sync += out.valid.eq(1)
        return out.p.count != 0


DESIGN = Design(
    name="wide",
    summary="a nested-loop join behind wide ports",
    parameters_type=WideParameters,
    component=WideJoin,
)
