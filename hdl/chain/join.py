"""The frame of every message-chain join: cores that send messages to their neighbours, a driver, a merging tree."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from amaranth.hdl import Cat, Module, ResetSignal
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import connect_gate, join_ports
from streamjoin.hdl.chain.driver import ChainDriver
from streamjoin.hdl.chain.parameters import MessageChainParameters
from streamjoin.hdl.chain.reorder import Reorder
from streamjoin.hdl.lib.control_tree import FanIn, FanOut
from streamjoin.hdl.lib.merging_tree import MergingTree


class MessageChainJoin(Part):
    """A window join of R and S whose cores stand in a row, with a driver at both ends and a merging tree for results.

    Arrival order is the order of acceptance; of two tuples accepted in one cycle R is the earlier.

    Why the clock does not depend on the number of cores. Cores talk to their neighbours and, through the driver, the
    first and the last are neighbours, too: the chain is a ring that can be folded flat. The reset and what cores say of
    themselves go through registered trees.

    Parameters
    ----------
    parameters
        Of the chain.
    cores
        From left to right. What they need of their neighbours is in ``from_left``, ``to_right``, ``from_right`` and
        ``to_left``; what the driver needs of the ends has the same names.
    driver
        Makes the driver, given the cycles ``start`` and ``settle`` of :class:`streamjoin.hdl.lib.input_gate.InputGate`.
    outstanding
        Arrivals that may be without punctuation, where results leave in order; ``None``: they leave as they come.

    Members
    -------
    i_r, i_s
        Tuples in; both are ready in the same cycles.
    o_result
        Results, in no particular order, unless ``outstanding`` is given.
    drain, drained
        Ask for all results that are due; all of them have left.
    halted, discarding, dropped
        An end of the chain has no room; transfers of this cycle are thrown away; how many have been.
    overflows
        Tuples pushed out of a time-based window before their time was up.
    """

    closed = True

    def __init__(
        self,
        parameters: MessageChainParameters,
        cores: Sequence[Part],
        driver: Callable[..., ChainDriver],
        outstanding: int | None = None,
    ):
        self._parameters = parameters
        self._cores = cores
        self._driver = driver
        self._outstanding = outstanding
        super().__init__(join_ports(parameters.layout))

    def elaborate(self, platform):
        m = Module()
        p, cores = self._parameters, self._cores
        m.submodules.tree = tree = MergingTree(
            p.layout.result, len(cores), merger=p.merger, depth=p.merger_queue, replicated=True
        )
        m.submodules.busy = busy = FanIn(len(cores) + len(tree.busy), radix=p.fan)
        m.submodules.resets = resets = FanOut(1, len(cores) + len(tree.clear), radix=p.fan)
        # Cores say a cycle late that they are busy.
        glance = 1 + busy.depth
        start = resets.depth + glance + 1 + p.clearing
        m.submodules.driver = driver = self._driver(start=start, settle=glance + 2)
        connect_gate(m, self, driver, p.layout)
        m.d.comb += [
            driver.busy.eq(busy.o),
            busy.i.eq(Cat((core.busy for core in cores), tree.busy)),
            resets.i.eq(ResetSignal()),
            tree.clear.eq(Cat(resets.o[len(cores) :])),
        ]
        results = flipped(self.o_result)
        if self._outstanding is not None:
            m.submodules.reorder = reorder = Reorder(p.layout, arrivals=self._outstanding, most=max(p.windows))
            connect(m, reorder.o, results)
            m.d.comb += driver.busy.eq(busy.o | reorder.busy)
            results = reorder.i
        # Until they have all been reset, cores and mergers may still give what is of no account.
        m.d.comb += [
            results.p.eq(tree.o.p),
            results.valid.eq(tree.o.valid & ~driver.starting),
            tree.o.ready.eq(results.ready),
        ]
        if p.numbered and self._outstanding is None:
            # Behind a punctuation lies whatever went through the cores last, which may be nothing at all.
            with m.If(tree.o.p.mark):
                m.d.comb += [results.p[field].eq(0) for field in p.layout.pair.members]
        if p.numbered:
            m.d.comb += driver.punctuated.eq(self.o_result.valid & self.o_result.ready & self.o_result.p.mark)
        for n, core in enumerate(cores):
            m.submodules[f"core{n}"] = core
            core.reset = resets.o[n]
            connect(m, core.o_result, tree.i[n])
        for left, right in pairwise(cores):
            connect(m, left.to_right, right.from_left)
            connect(m, right.to_left, left.from_right)
        connect(m, driver.to_right, cores[0].from_left)
        connect(m, driver.to_left, cores[-1].from_right)
        if driver.receives:
            connect(m, cores[-1].to_right, driver.from_left)
            connect(m, cores[0].to_left, driver.from_right)
        return m
