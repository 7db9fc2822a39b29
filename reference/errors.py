"""What it is called when a design does what no design may do."""


class DesignError(RuntimeError):
    """The design broke its promises; the message says which, in one sentence."""

    #: Of the command that noticed: the result cannot be trusted.
    status = 1
