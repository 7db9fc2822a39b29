"""Circular multi-way join: Najafi et al. 2018."""

import dataclasses
from itertools import pairwise
from math import prod

from amaranth.lib.wiring import Out, connect
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.index import INDEXES, check_index
from streamjoin.hdl.base.parameters import ParameterError, parameter
from streamjoin.hdl.multiway.join import MultiwayJoin, MultiwayParameters
from streamjoin.hdl.multiway.places import Places
from streamjoin.hdl.multiway.ring_stage import RingStage
from streamjoin.reference.wording import shown
from streamjoin.reference.written_numbers import whole_number

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

    index: str = parameter("none", "scan windows, or look only at what hashes to the same bucket", INDEXES)
    buckets: int | None = parameter(None, "buckets in each stage, a power of two; none: about one for each tuple")

    discard: int | None = parameter(
        None, "intermediate results at a depth, from which on further ones are lost, as in Najafi et al. 2018"
    )

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
        check_index(self)
        if self.discard is not None and not (isinstance(self.discard, int) and 1 <= self.discard <= self.buffer):
            raise ParameterError(f"discard must be a whole number from 1 to buffer={self.buffer}, not {self.discard!r}")

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
    def buckets_of_stages(self) -> tuple[int | None, ...]:
        """For the window of each stream, if there is an index."""
        if self.index == "none":
            return (None,) * len(self.windows)
        return tuple(self.buckets or 1 << ceil_log2(window) for window in self.windows)

    @property
    def clearing(self) -> int:
        return max(buckets or 0 for buckets in self.buckets_of_stages)

    @property
    def patience(self) -> int:
        # The longest silence: everything matches but for the last stage, for all that is under way.
        scans = prod(sorted(self.windows)[2:])
        rows = 2 * max(self.windows) // self.lanes + 50
        return min(1 << 62, 1000 + self.clearing + scans * rows * self.flight * len(self.streams))


def _names(streams) -> tuple[str, ...]:
    """S1, S2, … for a number of streams, or for the text of one."""
    if isinstance(streams, tuple):
        return streams
    try:
        count = whole_number(str(streams))
    except ValueError:
        count = 0
    if not LEAST <= count <= MOST:
        raise ParameterError(f"streams must be a whole number from {LEAST} to {MOST}, not {shown(streams)}")
    return tuple(f"S{n + 1}" for n in range(count))


class CircularJoin(MultiwayJoin):
    """A stage for each stream on a ring.

    Why each result comes exactly once, and why nothing gets stuck: :mod:`streamjoin.reference.models.circular`, of
    which each stage is a form in hardware (:class:`RingStage`).

    Cost. A tuple is compared with the window of the next stream, ``lanes`` at a time; what it matches there, with the
    window after that, and so on. Where nothing matches, all stages do this at the same time for tuples of different
    streams: N x lanes / window tuples a cycle for N streams and windows that are a multiple of the lanes, up to the one
    tuple a cycle that the chain carries. Each intermediate result costs window / lanes cycles more at its next stage:
    with windows W and match probability p, 1 + pW + (pW)² + … scans a tuple. So throughput falls as p passes 1/W.

    With ``index="hash"`` (equi-joins) a stage looks only at tuples whose keys hash to the same bucket, two cycles each:
    if keys are spread, about eight cycles a tuple and stage, whatever the window.

    Predicates other than ``equi`` hold between a stream and the next. S1 and SN are not neighbours: at the stage of S1
    all tuples go with those of SN, and what they become is compared at S2 and further on. The result is exact; it takes
    as many scans as there are tuples in the window of S1.

    With ``discard`` results are lost, as in the paper: an intermediate result that comes to a stage where so many of
    its depth wait is thrown away, and counted (``lost``). What comes out is part of the join, each result once.
    """

    def __init__(self, parameters: CircularParameters):
        super().__init__(parameters, **({} if parameters.discard is None else {"lost": Out(32)}))

    @property
    def lines(self):
        return tuple(range(len(self.parameters.streams)))

    def stages(self):
        p = self.parameters
        return [
            RingStage(
                p.combination,
                Places(window, p.flight, p.lanes),
                after=n != 0,
                before=n != len(p.windows) - 1,
                buckets=buckets,
                buffer=p.buffer,
                queue=p.result_queue,
                discard=p.discard,
            )
            for n, (window, buckets) in enumerate(zip(p.windows, p.buckets_of_stages, strict=True))
        ]

    def wire(self, m, gate, stages):
        # The combinations that are whole at a stage begin with the stream that follows.
        origins = [(n + 1) % len(stages) for n in range(len(stages))]
        for stage, origin in zip(stages, origins, strict=True):
            connect(m, stage.to_next, stages[origin].from_previous)
            m.d.comb += gate.complete[origin].eq(stage.complete)
        if self.parameters.discard is not None:
            for stage, following in pairwise(stages):
                m.d.comb += following.lost.eq(stage.lost_on)
            m.d.comb += self.lost.eq(stages[-1].lost_on)
        return origins
