"""Low-latency handshake join: paper 002."""

import dataclasses
from itertools import pairwise

from amaranth.hdl import Cat, Module, ResetSignal
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.control_tree import FanIn, FanOut
from streamjoin.hdl.core import Pace
from streamjoin.hdl.expedition import Expedition
from streamjoin.hdl.expedition_core import ExpeditionCore
from streamjoin.hdl.face import CONTROL, face
from streamjoin.hdl.merger import LEAST_QUEUE, MERGERS
from streamjoin.hdl.merging_tree import MergingTree
from streamjoin.hdl.parameters import JoinParameters, ParameterError, parameter
from streamjoin.hdl.part import Part
from streamjoin.hdl.window_manager import WindowManager


@dataclasses.dataclass(frozen=True, kw_only=True)
class LowLatencyParameters(JoinParameters):
    """Parameters of the low-latency handshake join."""

    cores: int = parameter(8, "join cores in the chain")
    lanes: int = parameter(1, "tuples of a window that a core compares in a cycle")
    comparators: str = parameter("shared", "one lot for both windows, or one for each", ("shared", "apart"))
    link_queue: int = parameter(2, "messages that may wait in a core, from each side")
    job_queue: int = parameter(4, "jobs that may wait in a core, for each window")
    flight: int = parameter(2, "tuples of S that a core keeps until they are acknowledged")
    core_queue: int = parameter(8, "results that may wait in each lane, besides its reserve")
    merger: str = parameter("streaming", "one result a cycle, or the three states of paper 001", tuple(MERGERS))
    merger_queue: int = parameter(4, "results that fit in a merger, from 2 up")
    fan: int = parameter(4, "branches of the control trees, from 2 up")

    def __post_init__(self):
        super().__post_init__()
        if self.merger_queue < LEAST_QUEUE:
            raise ParameterError(f"merger_queue must be at least {LEAST_QUEUE}, not {self.merger_queue}")
        if self.fan < 2:
            raise ParameterError(f"fan must be at least 2, not {self.fan}")

    @property
    def expedition(self) -> Expedition:
        return Expedition(self.pairing, cores=self.cores, lanes=self.lanes, windows=(self.window_r, self.window_s))

    @property
    def pace(self) -> Pace:
        # A row more than those that are full: a scan may begin within one. And R sees what flies.
        scan_of_r, scan_of_s = (ring.rows for ring in self.expedition.rings.values())
        scan_of_s += 1
        both = scan_of_r + scan_of_s if self.comparators == "shared" else max(scan_of_r, scan_of_s)
        return Pace(r=scan_of_s, s=scan_of_r, both=both)

    @property
    def comparisons_per_cycle(self) -> int:
        """Comparisons that all cores together make in a cycle, at most."""
        return self.cores * self.lanes * (1 if self.comparators == "shared" else 2)

    @property
    def patience(self) -> int:
        return 1000


class LowLatencyJoin(Part):
    """Low-latency handshake join: every tuple rushes through all cores at once and rests at one of them.

    Arrival order is the order of acceptance; of two tuples accepted in one cycle R is the earlier.

    Why it is exact, and why it cannot deadlock: :mod:`streamjoin.reference.expedition` says so for the order in which
    each core handles messages, whatever that order is. Here a message is handled in the cycle in which its core hands
    it on; comparing comes later, but in the order of handling, see :class:`ExpeditionCore`. Comparing waits for room in
    the queues of results, which drain through the merging tree into the output, and messages wait for comparing: so
    with an output that keeps taking results everything goes on.

    Cost. A tuple spends three cycles in a core on its way. Each core compares it with its share of the other window,
    ``lanes`` at a time; meanwhile tuples of the other stream wait, if they share the comparators. So with shares of
    n and m rows a pair costs n + m + 3 cycles (``comparators="apart"``: the greater of n + 2 and m + 1), and a result
    is out after three cycles a core, the scans of both shares and as many mergers as the tree is high, whatever the
    window: tuples are let in no faster than they can be compared, so that none wait in line.

    Why the clock does not depend on the number of cores. Cores talk to their neighbours and, through the driver, the
    first and the last are neighbours, too: the chain is a ring that can be folded flat.

    Members
    -------
    i_r, i_s
        Tuples in; both are ready in the same cycles.
    o_result
        Results, in no particular order.
    drain, drained
        Ask for all results that are due; all of them have left.
    halted, discarding, dropped
        An end of the chain has no room; transfers of this cycle are thrown away; how many have been.
    overflows
        Tuples pushed out of a time-based window before their time was up.
    """

    def __init__(self, parameters: LowLatencyParameters):
        self._parameters = parameters
        super().__init__(face(parameters.pairing))

    def elaborate(self, platform):
        m = Module()
        p = self._parameters
        expedition = p.expedition
        rooms = {"link_queue": p.link_queue, "jobs": p.job_queue, "flight": p.flight, "queue": p.core_queue}
        cores = [
            ExpeditionCore(expedition, last=n == p.cores - 1, shared=p.comparators == "shared", **rooms)
            for n in range(p.cores)
        ]
        m.submodules.tree = tree = MergingTree(p.pairing.result, len(cores), merger=p.merger, depth=p.merger_queue)
        m.submodules.busy = busy = FanIn(len(cores) + len(tree.busy), radix=p.fan)
        m.submodules.resets = resets = FanOut(1, len(cores) + len(tree.clear), radix=p.fan)
        m.submodules.manager = manager = WindowManager(
            expedition, p.pace, on_full=p.on_full, start=resets.depth + busy.depth + 1, settle=busy.depth + 2
        )
        for port in ("i_r", "i_s"):
            connect(m, flipped(getattr(self, port)), getattr(manager, port))
        for port in (port for port in CONTROL if port != "drain"):
            m.d.comb += getattr(self, port).eq(getattr(manager, port))
        m.d.comb += [
            manager.drain.eq(self.drain),
            manager.busy.eq(busy.o),
            busy.i.eq(Cat((core.busy for core in cores), tree.busy)),
            resets.i.eq(ResetSignal()),
            tree.clear.eq(Cat(resets.o[len(cores) :])),
            self.o_result.p.eq(tree.o.p),
            self.o_result.valid.eq(tree.o.valid & ~manager.starting),
            tree.o.ready.eq(self.o_result.ready),
        ]
        for n, core in enumerate(cores):
            m.submodules[f"core{n}"] = core
            core.reset = resets.o[n]
            connect(m, core.o_result, tree.i[n])
        for left, right in pairwise(cores):
            connect(m, left.to_right, right.from_left)
            connect(m, right.to_left, left.from_right)
        connect(m, manager.to_right, cores[0].from_left)
        connect(m, manager.to_left, cores[-1].from_right)
        connect(m, cores[-1].to_right, manager.from_left)
        connect(m, cores[0].to_left, manager.from_right)
        return m
