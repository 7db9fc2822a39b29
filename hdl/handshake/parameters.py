"""Parameters of the lock-step handshake join, and how its windows are shared by cores."""

import dataclasses
import typing

from streamjoin.hdl.base.parameters import ParameterError, TwoStreamParameters, parameter
from streamjoin.hdl.handshake.parallel_core import ParallelCore
from streamjoin.hdl.handshake.sequential_core import SequentialCore
from streamjoin.hdl.lib.tree_parameters import MergerParameters
from streamjoin.hdl.lockstep.join import drain_step
from streamjoin.hdl.lockstep.segment import SEGMENTS


def split(window: int, cores: int) -> list[int]:
    """A window cut into as nearly equal segments as can be, the longer ones first."""
    share, rest = divmod(window, cores)
    return [share + (n < rest) for n in range(cores)]


@dataclasses.dataclass(frozen=True, kw_only=True)
class HandshakeParameters(MergerParameters, TwoStreamParameters):
    """Parameters of the lock-step handshake join."""

    cores: int = parameter(8, "join cores in the chain", samples=(1, 2, 3, range(1, 13)))
    scan: str = parameter(
        "parallel",
        "a whole segment in one cycle, or one comparison a cycle as in Oge et al. 2011",
        ("parallel", "sequential"),
    )
    storage: str = parameter("registers", "where windows live; memory needs scan=sequential", tuple(SEGMENTS))
    core_queue: int = parameter(8, "results that may wait in a core, besides its reserve", samples=range(1, 5))
    match_queue: int = parameter(
        16, "scan=parallel: match masks that may wait in a core, besides its reserve", samples=range(1, 7)
    )

    def __post_init__(self):
        super().__post_init__()
        for name, window in (("window_r", self.window_r), ("window_s", self.window_s)):
            if window < self.cores:
                raise ParameterError(
                    f"{name}={window} cannot be shared by {self.cores} cores, each holds at least one tuple: "
                    f"take cores={window} or fewer"
                )
        if self.scan == "parallel" and self.storage == "memory":
            raise ParameterError(
                "scan=parallel sees a whole segment at once, which a memory cannot show: "
                "take storage=registers, or scan=sequential"
            )

    @classmethod
    def reconciled(cls, drawn: dict[str, typing.Any]) -> dict[str, typing.Any]:
        drawn = super().reconciled(drawn)
        cores = min(drawn["cores"], drawn["window_r"], drawn["window_s"])
        return drawn | {"cores": cores} | ({"storage": "registers"} if drawn["scan"] == "parallel" else {})

    @property
    def segments(self) -> list[tuple[int, int]]:
        """Each core's share of the R and of the S window."""
        return list(zip(split(self.window_r, self.cores), split(self.window_s, self.cores), strict=True))

    @property
    def pace(self):
        longest_r, longest_s = self.segments[0]
        return ParallelCore.PACE if self.scan == "parallel" else SequentialCore.pace(longest_s, longest_r)

    @property
    def comparisons_per_cycle(self) -> int:
        """Comparisons that all cores together make in a cycle, at most."""
        return sum(self.windows) if self.scan == "parallel" else self.cores

    @property
    def holds_back(self) -> str | None:
        return "tuples move on only as later ones push them, and meet on the way" if self.cores > 1 else None

    @property
    def patience(self) -> int:
        # The longest silence is a drain without results: one stream pushed through all cores.
        return min(self.windows) * drain_step(self.pace, SequentialCore.glance, self.cores, self.fan) + 1000
