"""Parameters of the low-latency handshake join."""

import dataclasses
import typing

from amaranth.utils import ceil_log2

from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.base.parameters import ParameterError, parameter
from streamjoin.hdl.chain.parameters import MessageChainParameters
from streamjoin.hdl.lib.index_parameters import INDEXES, check_index, reconciled_index
from streamjoin.hdl.llhj.expedition import Expedition
from streamjoin.reference.output import Output, PunctuatedCombinations


@dataclasses.dataclass(frozen=True, kw_only=True)
class LowLatencyParameters(MessageChainParameters):
    """Parameters of the low-latency handshake join."""

    punctuation: int | None = parameter(
        None, "arrivals after which a punctuation is due; none: no punctuations", samples=(None, 1, range(2, 21), 1000)
    )
    ordered: str = parameter("false", "results in the order of their later tuple, by punctuations", ("false", "true"))
    outstanding: int = parameter(
        64,
        "with ordered: arrivals that may be without punctuation, a power of two from 8 up",
        samples=(8, 16, 32, 64, 128),
    )
    index: str = parameter("none", "scan all that rests in a core, or only what hashes to the same bucket", INDEXES)
    buckets: int | None = parameter(
        None,
        "buckets in each core, a power of two; none: about one for each tuple",
        samples=(None, 1, 2, 4, 8, 16, 32, 64),
    )

    def __post_init__(self):
        super().__post_init__()
        if self.punctuation is not None and self.punctuation < 1:
            raise ParameterError(f"punctuation must be at least 1, not {self.punctuation}")
        if self.outstanding < 8 or self.outstanding & (self.outstanding - 1):
            raise ParameterError(f"outstanding must be a power of two from 8 up, not {self.outstanding}")
        if self.numbered and self.merger != "streaming":
            raise ParameterError(f"punctuations need merger=streaming, not {self.merger}")
        check_index(self)

    @classmethod
    def reconciled(cls, drawn: dict[str, typing.Any]) -> dict[str, typing.Any]:
        drawn = reconciled_index(super().reconciled(drawn))
        numbered = drawn["punctuation"] is not None or drawn["ordered"] == "true"
        return drawn | ({"merger": "streaming"} if numbered else {})

    @property
    def numbered(self) -> bool:
        return self.punctuation is not None or self.promises_order

    @property
    def promises_order(self) -> bool:
        return self.ordered == "true"

    @property
    def output_meaning(self) -> Output:
        return PunctuatedCombinations(ordered=self.promises_order) if self.numbered else super().output_meaning

    @property
    def expedition(self) -> Expedition:
        windows = (self.window_r, self.window_s)
        buckets = None
        if self.index == "hash":
            buckets = self.buckets or 1 << ceil_log2(-(-max(windows) // self.cores))
        return Expedition(self.layout, cores=self.cores, lanes=self.lanes, windows=windows, buckets=buckets)

    @property
    def pace(self) -> Pace:
        if self.index == "hash":
            return Pace(r=8, s=8, both=8)
        # A row more than those that are full: a scan may begin within one. And R sees what flies.
        scan_of_r, scan_of_s = (ring.rows for ring in self.expedition.rings.values())
        scan_of_s += 1
        # Between two scans of a window lies a cycle, in which the other window is scanned if they take turns.
        r, s = scan_of_s + 1, scan_of_r + 1
        return Pace(r=r, s=s, both=scan_of_r + scan_of_s if self.comparators == "shared" else max(r, s))

    @property
    def clearing(self) -> int:
        return max(self.outstanding if self.promises_order else 0, self.expedition.buckets or 0)

    @property
    def quiet(self) -> int:
        # A drain hastens the last punctuation, for which ordered results wait.
        return self.patience if self.promises_order else 0

    @property
    def patience(self) -> int:
        # The longest silence: as many scans without results as jobs may wait in a core.
        rows = sum(ring.rows for ring in self.expedition.rings.values())
        return 2 * (rows + 10) * (self.job_queue + self.link_queue) + 10 * self.cores + 1000 + self.clearing
