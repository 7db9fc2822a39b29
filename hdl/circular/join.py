"""Circular multi-way join: Najafi et al. 2018."""

from itertools import pairwise

from amaranth.lib.wiring import Out, connect

from streamjoin.hdl.circular.parameters import CircularParameters
from streamjoin.hdl.multiway.join import MultiwayJoin
from streamjoin.hdl.multiway.ring_stage import RingStage
from streamjoin.hdl.multiway.window_places import WindowPlaces


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

    Members
    -------
    lost
        With ``discard``: how many intermediate results were thrown away.
    """

    parameters: CircularParameters

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
                WindowPlaces(window, p.flight, p.lanes),
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
