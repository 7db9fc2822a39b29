"""What every join core of a lock-step chain looks like from outside."""

from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import TupleLayout

#: What all cores are told in every cycle: whether to move on at all, which streams a tuple enters, and whether they
#: may shift without comparing because all that enters any core are empty slots.
COMMAND = data.StructLayout({"run": 1, "enter_r": 1, "enter_s": 1, "skip": 1})


class JoinCore(Part):
    """One segment of both windows, and the comparisons of all that enters it.

    R flows from left to right, S from right to left. A command ``enter_r`` shifts the segment's R window by one
    tuple: ``i_r`` enters, the oldest leaves through ``o_r``, and the tuple that entered meets every S tuple of the
    segment; likewise for S. When both enter, R goes first: the R tuple meets the S window as it was, the S tuple
    meets the R window with the new tuple in it.

    All cores get the same commands in the same cycles and so stay in step: in each cycle in which one of them takes
    over its neighbour's oldest tuple, all do.

    Subclasses say how long they work on a command (``pace``) and how many cycles after work its results are in a queue
    at the latest (``latency``); ``busy`` is up by then. Those that work for long on a command say how long it
    takes until the slots that move next are settled (``glance``); they then get commands to ``skip`` the comparisons
    while draining.

    Parameters
    ----------
    layout
        Layouts and join condition.
    segment_r, segment_s
        Places in the segment for tuples of either stream, at least one each.
    reaction
        Cycles of work that still follow after ``full`` goes up.

    Members
    -------
    command
        What to do. Work goes on only in cycles with ``run``; tuples enter at the core's pace, and not before the
        second cycle after a reset.
    i_r, i_s
        The slots that enter: the neighbours' ``o_r`` and ``o_s``, or new tuples at the ends of the chain.
    o_r, o_s
        The oldest slot of either window, settled whenever a neighbour takes it over.
    leaves_r, leaves_s
        The neighbours take ``o_r``, ``o_s`` over in this cycle.
    o_result
        The pairs found.
    full
        Stop: there is room only for what is already under way.
    busy
        Pairs are waiting inside.
    """

    #: Cycles from a command to ``o_r`` and ``o_s`` being settled again; ``None`` if nothing would be gained by it.
    glance: int | None = None

    def __init__(self, layout: TupleLayout, *, segment_r: int, segment_s: int, reaction: int):
        if min(segment_r, segment_s) < 1:
            raise ValueError(f"a core needs room for a tuple of each stream, not {segment_r} and {segment_s}")
        self.layout = layout
        self.segment_r = segment_r
        self.segment_s = segment_s
        self.reaction = reaction
        super().__init__(
            {
                "command": In(COMMAND),
                "i_r": In(layout.slot),
                "i_s": In(layout.slot),
                "o_r": Out(layout.slot),
                "o_s": Out(layout.slot),
                "leaves_r": Out(1),
                "leaves_s": Out(1),
                "o_result": Out(layout.results),
                "full": Out(1),
                "busy": Out(1),
            }
        )
