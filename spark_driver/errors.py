"""What can go wrong between us and Spark."""


class SparkError(RuntimeError):
    """Spark, or something that it needs, is missing or failed; the message is one sentence that names the fix."""
