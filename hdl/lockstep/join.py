"""The frame of every lock-step join: admission control, a chain of cores, a merging tree, control trees between."""

from itertools import pairwise

from amaranth.hdl import Cat, Module, ResetSignal, Signal
from amaranth.lib.wiring import connect

from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import connect_gate, join_ports
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.control_tree import FanIn, FanOut, tree_depth
from streamjoin.hdl.lib.merging_tree import MergingTree
from streamjoin.hdl.lib.overflow import left_early
from streamjoin.hdl.lockstep.admission import Admission
from streamjoin.hdl.lockstep.core import COMMAND, JoinCore


def reaction(cores: int, fan: int) -> int:
    """Cycles in which cores still run after one of them has raised ``full``: fan-in, the gate, fan-out."""
    return tree_depth(cores, fan) + 1 + tree_depth(cores, fan)


def drain_step(pace: Pace, glance: int, cores: int, fan: int) -> int:
    """At most so many cycles between two steps of a drain: the pace, or the time it takes to see what moves next."""
    return max(pace.r, pace.s, pace.both, glance + reaction(cores, fan))


class LockStepJoin(Part):
    """A window join of R and S in which all cores move in the same cycle.

    Arrival order is the order of acceptance; of two tuples accepted in one cycle R is the earlier. R enters at the
    first core and flows to the last, S the other way; the places of all cores' segments together make up the windows.

    Why each pair meets exactly once. Number the cores from left to right and let c(r) and c(s) be where two tuples
    are. A shift moves the tuples of one stream only, each by at most one core; c(r) never falls, c(s) never rises.
    When the later of the two enters, at its own end, c(r) <= c(s) if the other is still in the chain, that is, in its
    window. Neither can leave the chain without passing the other, and since they approach by one core at a time,
    there is a shift that makes c(r) = c(s) for the first time. In that shift one of them enters the core where the
    other is, and every core compares a tuple that enters with all it holds of the other stream. Afterwards neither
    enters that core again, and once parted they never share another. If the earlier one has left the chain before
    the later one enters, they never meet. So pairs are exactly those of the contract, whatever the segments' lengths.

    Why it cannot deadlock. Cores halt only while a queue is almost full, or while matches wait for room in one. Queues
    drain through the merging tree into the output and wait for nothing else; so with an output that keeps taking
    results every halt ends.

    Why the clock does not depend on the number of cores. Cores talk to their neighbours; what concerns all of them
    goes through registered trees, and the cores' queues have room for what still comes meanwhile. Even the reset does:
    it reaches cores and mergers after every command that was given before it, and until they have all been reset the
    gate takes nothing and no result is shown.

    Members
    -------
    i_r, i_s
        Tuples in; both are ready in the same cycles.
    o_result
        Results, in no particular order.
    drain, drained
        Ask for all results that are due; all of them have left.
    halted, discarding, dropped
        Held back by full queues; transfers of this cycle are thrown away; how many have been.
    overflows
        Tuples pushed out of a time-based window before their time was up.
    """

    def __init__(
        self,
        layout: TupleLayout,
        cores: list[JoinCore],
        *,
        pace: Pace,
        on_full: str,
        drain_stream: str,
        drain_steps: int,
        merger: str,
        merger_queue: int,
        fan: int,
    ):
        if any(core.reaction != reaction(len(cores), fan) for core in cores):
            raise ValueError(f"cores of this chain must be made for a reaction of {reaction(len(cores), fan)} cycles")
        self.layout = layout
        self._cores = cores
        self._fan = fan
        self._tree = lambda: MergingTree(layout.result, len(cores), merger=merger, depth=merger_queue)
        self._drain_stream = drain_stream
        self._admission = lambda **times: Admission(
            layout, pace, on_full=on_full, drain_stream=drain_stream, drain_steps=drain_steps, **times
        )
        super().__init__(join_ports(layout))

    def elaborate(self, platform):
        m = Module()
        cores = self._cores
        m.submodules.commands = commands = FanOut(COMMAND, len(cores), radix=self._fan)
        m.submodules.full = full = FanIn(len(cores), radix=self._fan)
        m.submodules.tree = tree = self._tree()
        m.submodules.busy = busy = FanIn(len(cores) + len(tree.busy), radix=self._fan)
        m.submodules.resets = resets = FanOut(1, len(cores) + len(tree.clear), radix=self._fan)
        settle = commands.depth + cores[0].latency + busy.depth + 2
        glance = cores[0].glance
        if glance is not None:
            m.submodules.moving = moving = FanIn(len(cores), radix=self._fan)
            m.d.comb += moving.i.eq(Cat(getattr(core, f"o_{self._drain_stream}").valid for core in cores))
            glance += reaction(len(cores), self._fan)
        start = resets.depth + max(full.depth, busy.depth) + 1
        m.submodules.admission = gate = self._admission(start=start, settle=settle, glance=glance)
        m.d.comb += gate.moving.eq(1 if glance is None else moving.o)
        connect_gate(m, self, gate, self.layout)
        m.d.comb += [
            gate.halt.eq(full.o),
            gate.busy.eq(busy.o),
            commands.i.eq(gate.command),
            resets.i.eq(ResetSignal()),
            tree.clear.eq(Cat(resets.o[len(cores) :])),
        ]

        for n, core in enumerate(cores):
            m.submodules[f"core{n}"] = core
            core.reset = resets.o[n]
            m.d.comb += core.command.eq(commands.o[n])
            connect(m, core.o_result, tree.i[n])
        m.d.comb += full.i.eq(Cat(core.full for core in cores))
        m.d.comb += busy.i.eq(Cat((core.busy for core in cores), tree.busy))
        m.d.comb += [
            self.o_result.p.eq(tree.o.p),
            self.o_result.valid.eq(tree.o.valid & ~gate.starting),
            tree.o.ready.eq(self.o_result.ready),
        ]

        new_r = self._delayed(m, "r", gate.r, gate.command.enter_r, commands.depth)
        new_s = self._delayed(m, "s", gate.s, gate.command.enter_s, commands.depth)
        for left, right in pairwise(cores):
            m.d.comb += [right.i_r.eq(left.o_r), left.i_s.eq(right.o_s)]
        m.d.comb += [cores[0].i_r.eq(new_r), cores[-1].i_s.eq(new_s)]

        if self.layout.spans is not None:
            span_r, span_s = self.layout.spans
            m.d.comb += [
                gate.early_r.eq(_pushed_out_early(m, "r", cores[-1].leaves_r, cores[-1].o_r, new_r, span_r)),
                gate.early_s.eq(_pushed_out_early(m, "s", cores[0].leaves_s, cores[0].o_s, new_s, span_s)),
            ]
        return m

    def _delayed(self, m, name, slot, enters, cycles):
        """A new slot on its way to the end of the chain: there with its command, and until the next one comes."""
        for cycle in range(1, cycles):
            later = Signal.like(slot, name=f"{name}_after{cycle}", reset_less=True)
            later_enters = Signal(name=f"enters_{name}_after{cycle}", reset_less=True)
            m.d.sync += [later.eq(slot), later_enters.eq(enters)]
            slot, enters = later, later_enters
        arrived = Signal.like(slot, name=f"new_{name}", reset_less=True)
        with m.If(enters):
            m.d.sync += arrived.eq(slot)
        return arrived


def _pushed_out_early(m, side, shifts, oldest, newest, span):
    """Whether the oldest slot of a window has just left for a new one, both with a tuple in it, and too early."""
    leaves = shifts & oldest.valid & newest.valid
    return left_early(m, side, leaves, oldest.tuple.time, newest.tuple.time, span)
