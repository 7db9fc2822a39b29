"""Stashed multi-way join of three streams: Najafi et al. 2018."""

from amaranth.lib.wiring import connect

from streamjoin.hdl.multiway.join import MultiwayJoin
from streamjoin.hdl.multiway.ring_stage import RingStage
from streamjoin.hdl.multiway.window_places import WindowPlaces
from streamjoin.hdl.stashed.parameters import StashedParameters
from streamjoin.hdl.stashed.stash_stage import StashStage


class StashedJoin(MultiwayJoin):
    """Two stages: one for S1 and S2 with the stash of what they have found together, one for S3.

    Why it is exact: :mod:`streamjoin.reference.models.stashed`. The first stage does its work in the order of arrivals
    (:class:`StashStage`); the second is a stage of the ring that no new tuples come to. The first waits for the second,
    the second for the output, and for nobody else: nothing gets stuck.

    Cost. An arrival of S1 or S2 is compared with the other's window by the first stage, and each pair that it makes
    with the window of S3 by the second. An arrival of S3 is compared with the stash; while that is not complete, with
    the window of S2 and, for each match, with that of S1. With windows W, match probability p and M = pW the first
    stage makes 2W comparisons for three arrivals, one of each stream, and those with the stash, up to 2MW (so many
    pairs are found while windows are renewed; about half of them live at a time). The second stage makes 2MW. The ring
    makes 3W (1 + M) with the same arrivals. So the stash pays where matches are few.
    """

    parameters: StashedParameters
    lines = (0, 0, 1)

    def stages(self):
        p = self.parameters
        second_lanes, room = p.sizes
        first = StashStage(
            p.combination,
            (p.window_s1, p.window_s2),
            lanes=p.lanes,
            room=room,
            spare_bits=p.spare_bits,
            buffer=p.buffer,
            queue=p.result_queue,
        )
        second = RingStage(
            p.combination,
            WindowPlaces(p.window_s3, p.flight, second_lanes),
            shortest=2,
            after=True,
            before=False,
            buffer=p.buffer,
            queue=p.result_queue,
        )
        return [first, second]

    def wire(self, m, gate, stages):
        first, second = stages
        connect(m, first.to_next, second.from_previous)
        m.d.comb += [gate.complete[0].eq(second.complete), gate.complete[1].eq(first.complete)]
        return [0, 0]
