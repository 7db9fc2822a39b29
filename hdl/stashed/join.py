"""Stashed multi-way join of three streams: Najafi et al. 2018."""

import dataclasses
import typing

from amaranth.lib.wiring import connect

from streamjoin.hdl.base.parameters import ParameterError, parameter
from streamjoin.hdl.multiway.join import MultiwayJoin, MultiwayParameters
from streamjoin.hdl.multiway.places import Places
from streamjoin.hdl.multiway.ring_stage import RingStage
from streamjoin.hdl.stashed.stash_stage import StashStage


@dataclasses.dataclass(frozen=True, kw_only=True)
class _ThreeWindows:
    """The windows; they stand before what all joins have in common."""

    window_s1: int = parameter(64, "tuples of S1 in its window (with span: room for so many)")
    window_s2: int = parameter(64, "the same for S2")
    window_s3: int = parameter(64, "the same for S3")


@dataclasses.dataclass(frozen=True, kw_only=True)
class StashedParameters(MultiwayParameters, _ThreeWindows):
    """Parameters of the stashed join; ``lanes`` are those of the first stage."""

    second_lanes: int | None = parameter(None, "tuples that the second stage compares in a cycle; none: as the first")
    stash: int | None = parameter(None, "pairs that the stash holds, from 0 up; none: as many as the window of S1")
    spare_bits: int = parameter(
        12, "bits of a position beyond those that windows need: how seldom the stash is emptied"
    )

    #: The streams in the order of their ports.
    streams: typing.ClassVar[tuple[str, ...]] = ("S1", "S2", "S3")

    def __post_init__(self):
        for name, least, default in (("second_lanes", 1, self.lanes), ("stash", 0, self.window_s1)):
            value = getattr(self, name)
            if value is None:
                object.__setattr__(self, name, default)
            elif not (isinstance(value, int) and value >= least):
                raise ParameterError(f"{name} must be a whole number from {least} up, not {value!r}")
        super().__post_init__()

    @property
    def windows(self) -> tuple[int, ...]:
        return self.window_s1, self.window_s2, self.window_s3

    @property
    def comparisons_per_cycle(self) -> int:
        """Comparisons that both stages together make in a cycle, at most."""
        return self.lanes + self.second_lanes

    @property
    def patience(self) -> int:
        # The longest silence: everything matches but for the last scan, for all that is under way.
        scans = 2 + max(self.windows)
        rows = max(*self.windows, self.stash) // min(self.lanes, self.second_lanes) + 60
        return min(1 << 62, 1000 + scans * rows * self.flight * 3)


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

    lines = (0, 0, 1)

    def stages(self):
        p = self.parameters
        first = StashStage(
            p.combination,
            (p.window_s1, p.window_s2),
            lanes=p.lanes,
            room=p.stash,
            spare_bits=p.spare_bits,
            buffer=p.buffer,
            queue=p.result_queue,
        )
        second = RingStage(
            p.combination,
            Places(p.window_s3, p.flight, p.second_lanes),
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
