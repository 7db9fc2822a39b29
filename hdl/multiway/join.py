"""The frame of every multi-way join: an arrival sequencer, a stage for each window, a merging tree."""

from abc import abstractmethod

from amaranth.hdl import Cat, Module, ResetSignal

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import connect_gate, join_ports
from streamjoin.hdl.lib.control_tree import FanIn, FanOut
from streamjoin.hdl.lib.merging_tree import MergingTree
from streamjoin.hdl.multiway.arrival_sequencer import ArrivalSequencer
from streamjoin.hdl.multiway.parameters import MultiwayParameters


class MultiwayJoin(Part):
    """A window join of more than two streams: arrivals pass all stages one by one; a merging tree gathers results.

    Arrival order is the order of acceptance; of tuples accepted in one cycle that of the first stream is the earliest.

    Parameters
    ----------
    parameters
        Of the join.
    further_ports
        Ports that only this one has.

    Members
    -------
    i_s1, i_s2, …
        Tuples in; all are ready in the same cycles.
    o_result
        Results, in no particular order.
    drain, drained, halted, discarding, dropped, overflows
        As in :class:`streamjoin.hdl.chain.join.MessageChainJoin`; halted: as many arrivals are under way as may be.
    """

    #: For each stream, the line in which its arrivals complete: see :class:`ArrivalSequencer`.
    lines: tuple[int, ...]

    def __init__(self, parameters: MultiwayParameters, **further_ports):
        self.parameters = parameters
        super().__init__({**join_ports(parameters.layout), **further_ports})

    @abstractmethod
    def stages(self) -> list[Part]:
        """Make the stages; all have ``passes``, ``arrival``, ``passes_on``, ``arrival_on``, ``o_result``, ``busy``."""

    @abstractmethod
    def wire(self, m, gate: ArrivalSequencer, stages: list[Part]) -> list[int]:
        """Connect the stages with each other and their ``complete`` with the gate.

        Returns, for each stage, which stream the parts of its results begin with.
        """

    def elaborate(self, platform):
        m = Module()
        p, combination, stages = self.parameters, self.parameters.combination, self.stages()
        count = len(stages)
        m.submodules.tree = tree = MergingTree(p.layout.result, count, depth=p.merger_queue)
        m.submodules.busy = busy = FanIn(count + len(tree.busy), radix=p.fan)
        m.submodules.resets = resets = FanOut(1, count + len(tree.clear), radix=p.fan)
        m.submodules.gate = gate = ArrivalSequencer(
            combination,
            p.windows,
            lines=self.lines,
            on_full=p.on_full,
            start=resets.depth + busy.depth + 1 + p.clearing,
            settle=busy.depth + 2,
        )
        connect_gate(m, self, gate, p.layout)
        m.d.comb += [
            gate.busy.eq(busy.o),
            busy.i.eq(Cat((stage.busy for stage in stages), tree.busy)),
            resets.i.eq(ResetSignal()),
            tree.clear.eq(Cat(resets.o[count:])),
            # Until they have all been reset, stages and mergers may still give what is of no account.
            self.o_result.p.eq(tree.o.p),
            self.o_result.valid.eq(tree.o.valid & ~gate.starting),
            tree.o.ready.eq(self.o_result.ready),
        ]
        passes, arrival = gate.goes, gate.arrival
        for n, stage in enumerate(stages):
            m.submodules[f"stage{n + 1}"] = stage
            stage.reset = resets.o[n]
            m.d.comb += [stage.passes.eq(passes), stage.arrival.eq(arrival)]
            passes, arrival = stage.passes_on, stage.arrival_on
        for stage, leaf, origin in zip(stages, tree.i, self.wire(m, gate, stages), strict=True):
            self._name(m, stage.o_result, leaf, origin)
        return m

    def _name(self, m, given, result, origin):
        """A combination that begins with the stream ``origin``, as a result."""
        layout = self.parameters.layout
        sides = layout.sides
        parts = {sides[(origin + k) % len(sides)]: part for k, part in enumerate(given.p.parts)}
        for name in layout.result.members:
            field, _, side = name.partition("_")
            m.d.comb += result.p[name].eq(parts[side][field] if side else given.p[field])
        m.d.comb += [result.valid.eq(given.valid), given.ready.eq(result.ready)]
