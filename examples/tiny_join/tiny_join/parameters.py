"""Parameters of the tiny join."""

import dataclasses

from streamjoin.hdl.base.parameters import ParameterError, TwoStreamParameters, parameter

#: Beyond this a comparator for each place of a window is not what anybody wants.
LARGEST_WINDOW = 1024


@dataclasses.dataclass(frozen=True, kw_only=True)
class TinyParameters(TwoStreamParameters):
    """What all joins of two streams take, and a queue for results."""

    queue: int = parameter(4, "results that may wait for the output")

    def __post_init__(self):
        super().__post_init__()
        for name, window in zip(("window_r", "window_s"), self.windows, strict=True):
            if window > LARGEST_WINDOW:
                raise ParameterError(f"{name} must be at most {LARGEST_WINDOW}, not {window}: each place compares")

    @property
    def comparisons_per_cycle(self) -> int:
        """One tuple a cycle meets the whole window of the other stream."""
        return max(self.windows)

    @property
    def patience(self) -> int:
        """A result that is due reaches the output within four cycles, and without one a tuple is taken each cycle."""
        return 16
