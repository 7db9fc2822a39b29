"""The error that users can mend: one sentence, and the exit status that a command ends with."""


class StreamjoinError(Exception):
    """Something is wrong that is not a design's fault; the message is one sentence that names the fix."""

    #: Of the command that it ends.
    status = 2
