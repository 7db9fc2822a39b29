"""What can go wrong between us and Spark."""

from streamjoin.support.errors import StreamjoinError


class SparkError(StreamjoinError):
    """Spark, or something that it needs, is missing or failed; the message is one sentence that names the fix."""
