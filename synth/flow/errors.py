"""What can go wrong when a design's cost is measured, each in one sentence that names the way out."""

from streamjoin.support.errors import StreamjoinError


class SynthError(StreamjoinError):
    """Synthesis, or place and route, cannot do what was asked."""


class TargetError(SynthError, ValueError):
    """There is no such target."""


class TooLargeError(SynthError):
    """The design is larger than the device."""
