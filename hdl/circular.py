"""Circular multi-way join: paper 004."""

import dataclasses
from math import prod

from amaranth.hdl import Cat, Module, ResetSignal
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.control_tree import FanIn, FanOut
from streamjoin.hdl.face import CONTROL, face
from streamjoin.hdl.merging_tree import MergingTree
from streamjoin.hdl.multiway import MultiwayParameters
from streamjoin.hdl.parameters import ParameterError, parameter
from streamjoin.hdl.part import Part
from streamjoin.hdl.places import Places
from streamjoin.hdl.ring_stage import RingStage
from streamjoin.hdl.turnstile import Turnstile

LEAST, MOST = 3, 8
_WINDOW = 64


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Windows:
    """How many streams there are, and the window of each; it stands before what all joins have in common."""

    streams: tuple[str, ...] = parameter(LEAST, f"how many streams are joined, from {LEAST} to {MOST}")
    window_s1: int | None = parameter(
        None, f"tuples in the window of S1 (with span: room for so many); none: {_WINDOW}"
    )
    window_s2: int | None = parameter(None, "the same for S2")
    window_s3: int | None = parameter(None, "the same for S3")
    window_s4: int | None = parameter(None, "the same for S4, if there is such a stream")
    window_s5: int | None = parameter(None, "the same for S5")
    window_s6: int | None = parameter(None, "the same for S6")
    window_s7: int | None = parameter(None, "the same for S7")
    window_s8: int | None = parameter(None, "the same for S8")


@dataclasses.dataclass(frozen=True, kw_only=True)
class CircularParameters(MultiwayParameters, _Windows):
    """Parameters of the circular join. ``streams`` is given as a number, and holds the names of the streams."""

    def __post_init__(self):
        names = _names(self.streams)
        object.__setattr__(self, "streams", names)
        for number in range(1, MOST + 1):
            name = f"window_s{number}"
            window = getattr(self, name)
            if number > len(names):
                if window is not None:
                    raise ParameterError(f"there is no stream for {name}: leave it out, or raise streams to {number}")
            elif window is None:
                object.__setattr__(self, name, _WINDOW)
            elif not (isinstance(window, int) and window >= 1):
                raise ParameterError(f"{name} must be a whole number from 1 up, not {window!r}")
        super().__post_init__()

    @classmethod
    def window_names(cls, given):
        return [f"window_s{n + 1}" for n in range(len(_names(given.get("streams", LEAST))))]

    def as_dict(self):
        return super().as_dict() | {"streams": len(self.streams)}

    @property
    def windows(self) -> tuple[int, ...]:
        return tuple(getattr(self, f"window_{stream.lower()}") for stream in self.streams)

    @property
    def comparisons_per_cycle(self) -> int:
        """Comparisons that all stages together make in a cycle, at most."""
        return len(self.streams) * self.lanes

    @property
    def patience(self) -> int:
        # The longest silence: everything matches but for the last stage, for all that is under way.
        scans = prod(sorted(self.windows)[2:])
        rows = max(self.windows) // self.lanes + 50
        return min(1 << 62, 1000 + scans * rows * self.flight * len(self.streams))


def _names(streams) -> tuple[str, ...]:
    """S1, S2, … for a number of streams, or for the text of one."""
    if isinstance(streams, tuple):
        return streams
    if str(streams) not in map(str, range(LEAST, MOST + 1)):
        raise ParameterError(f"streams must be a whole number from {LEAST} to {MOST}, not {streams!r}")
    return tuple(f"S{n + 1}" for n in range(int(streams)))


class CircularJoin(Part):
    """A stage for each stream on a ring, a chain that brings arrivals past all of them, a tree that gathers results.

    Why each result comes exactly once, and why nothing gets stuck: :mod:`streamjoin.reference.circular`, of which each
    stage is a form in hardware (:class:`RingStage`).

    Cost. A tuple is compared with the window of the next stream, ``lanes`` at a time; what it matches there, with the
    window after that, and so on. Where nothing matches, all stages do this at the same time for tuples of different
    streams: N x lanes / window tuples a cycle for N streams and windows that are a multiple of the lanes, up to the one
    tuple a cycle that the chain carries. Each intermediate result costs window / lanes cycles more at its next stage:
    with windows W and match probability p, 1 + pW + (pW)² + … scans a tuple. So throughput falls as p passes 1/W.

    Predicates other than ``equi`` hold between a stream and the next. S1 and SN are not neighbours: at the stage of S1
    all tuples go with those of SN, and what they become is compared at S2 and further on. The result is exact; it takes
    as many scans as there are tuples in the window of S1.

    Members
    -------
    i_s1, i_s2, …
        Tuples in; all are ready in the same cycles.
    o_result
        Results, in no particular order.
    drain, drained, halted, discarding, dropped, overflows
        As in :class:`streamjoin.hdl.message_chain.MessageChainJoin`; halted: as many arrivals are under way as may be.
    """

    def __init__(self, parameters: CircularParameters):
        self._parameters = parameters
        super().__init__(face(parameters.pairing))

    def elaborate(self, platform):
        m = Module()
        p, combination = self._parameters, self._parameters.combination
        count = combination.streams
        stages = [
            RingStage(
                combination,
                Places(window, p.flight, p.lanes),
                after=n != 0,
                before=n != count - 1,
                buffer=p.buffer,
                queue=p.result_queue,
            )
            for n, window in enumerate(p.windows)
        ]
        m.submodules.tree = tree = MergingTree(p.pairing.result, count, depth=p.merger_queue)
        m.submodules.busy = busy = FanIn(count + len(tree.busy), radix=p.fan)
        m.submodules.resets = resets = FanOut(1, count + len(tree.clear), radix=p.fan)
        m.submodules.gate = gate = Turnstile(
            combination,
            p.windows,
            on_full=p.on_full,
            start=resets.depth + busy.depth + 1,
            settle=busy.depth + 2,
        )
        for side in p.pairing.sides:
            connect(m, flipped(getattr(self, f"i_{side}")), getattr(gate, f"i_{side}"))
        for port in (port for port in CONTROL if port != "drain"):
            m.d.comb += getattr(self, port).eq(getattr(gate, port))
        m.d.comb += [
            gate.drain.eq(self.drain),
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
            connect(m, stage.to_next, stages[(n + 1) % count].from_previous)
            # The combinations that are whole here begin with the stream that follows.
            origin = (n + 1) % count
            m.d.comb += gate.complete[origin].eq(stage.complete)
            self._name(m, stage.o_result, tree.i[n], origin)
        return m

    def _name(self, m, given, result, origin):
        """A combination that begins with the stream ``origin``, as a result."""
        pairing = self._parameters.pairing
        sides = pairing.sides
        parts = {sides[(origin + k) % len(sides)]: part for k, part in enumerate(given.p.parts)}
        for name in pairing.result.members:
            field, _, side = name.partition("_")
            m.d.comb += result.p[name].eq(parts[side][field] if side else given.p[field])
        m.d.comb += [result.valid.eq(given.valid), given.ready.eq(result.ready)]
