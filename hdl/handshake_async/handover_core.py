"""A core of the asynchronous handshake join: tuples rest here until the neighbour has fewer of them."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.chain.link_arbiter import take_turns
from streamjoin.hdl.chain.scan_join import ScanJoin
from streamjoin.hdl.handshake_async.handover import Handover
from streamjoin.hdl.handshake_async.window_worker import HandoverWorker
from streamjoin.hdl.lib.fifo import FIFO


class HandoverCore(Part):
    """Handles one message in a cycle, from either side, and sends tuples on to neighbours that have fewer.

    Handling a message means to give jobs to both windows; the order of handling is what counts for
    :mod:`streamjoin.reference.models.handshake_async`, and the windows keep it, each in its own time. What goes to the
    right, tuples of R and acknowledgements of S, goes there in the order in which the window of R has sent the one and
    begun the scan for the other. So whether r left before s came is the same for both.

    What waits for what. A message waits for room for jobs, and at the ends, if it says that a tuple goes, until that
    tuple is there. Jobs wait for the comparators, those for the output. Sending waits for the neighbour, but nothing
    waits for sending: an acknowledgement finds room, for the queue on the other side keeps ``flight`` places for it.

    Parameters
    ----------
    handover
        The join.
    first, last
        Whether this is the core at the left, at the right end.
    shared
        Whether both windows share the comparators.
    queue
        Results in each lane that may wait.

    Members
    -------
    from_left, to_right, from_right, to_left
        The neighbours.
    o_result
        Results, in no particular order.
    busy
        A cycle ago there was something to be done, or a tuple of R.
    """

    def __init__(self, handover: Handover, *, first: bool, last: bool, shared: bool, queue: int):
        self._handover = handover
        self._first = first
        self._last = last
        self._join = lambda: ScanJoin(
            handover.layout, handover.lanes, shared=shared, queue=queue, latency=HandoverWorker.LATENCY
        )
        super().__init__(
            {
                "from_left": In(handover.channel("r")),
                "to_right": Out(handover.channel("r")),
                "from_right": In(handover.channel("s")),
                "to_left": Out(handover.channel("s")),
                "o_result": Out(handover.layout.results),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        handover = self._handover
        # Besides acknowledgements, what the sender has decided on and what is in its register when the queue fills up.
        reserve = handover.flight + 2
        m.submodules.left = from_left = FIFO.with_reserve(handover.message, handover.link_queue, reserve)
        m.submodules.right = from_right = FIFO.with_reserve(handover.message, handover.link_queue, reserve)
        m.submodules.resting_r = resting_r = HandoverWorker(handover, "r", end=self._last)
        m.submodules.resting_s = resting_s = HandoverWorker(handover, "s", end=self._first)
        for channel, queue, resting in (
            (self.from_left, from_left, resting_r),
            (self.from_right, from_right, resting_s),
        ):
            m.d.comb += [
                queue.i.p.eq(channel.message),
                queue.i.valid.eq(channel.valid),
                channel.room.eq(~queue.almost_full),
            ]
            # That a tuple goes is known late. Counted a cycle later it only makes a core seem to have more.
            gone = Signal(name=f"gone_{resting.side}")
            m.d.sync += [
                gone.eq(resting.goes),
                channel.load.eq(channel.load + (channel.valid & channel.message.enters) - gone),
            ]

        left, right = from_left.o.p, from_right.o.p
        have_room = resting_r.room & resting_s.room
        present = {side: Signal(handover.loads[side], name=f"present_{side}") for side in "rs"}
        # The removal of a tuple that is still on its way here waits for it.
        will_left, will_right, take_left, take_right, from_the_left = take_turns(
            m,
            from_left,
            from_right,
            may_left=have_room & ~((present["s"] == 0) & left.removes if self._first else 0),
            may_right=have_room & ~((present["r"] == 0) & right.removes if self._last else 0),
        )
        m.d.sync += [
            present["r"].eq(present["r"] + (take_left & left.enters) - (take_right & right.removes)),
            present["s"].eq(present["s"] + (take_right & right.enters) - (take_left & left.removes)),
            resting_r.push.eq(will_right | (will_left & left.enters)),
            resting_s.push.eq(will_left | (will_right & right.enters)),
        ]
        for resting, comes, probing, newcomer in (
            (resting_r, left, ~from_the_left, right),
            (resting_s, right, from_the_left, left),
        ):
            m.d.comb += [
                resting.job.rests.eq(~probing),
                resting.job.probes.eq(probing & newcomer.enters),
                resting.job.needs_store.eq(~probing | newcomer.enters),
                resting.job.removes.eq(probing & newcomer.removes),
                resting.job.tuple.eq(Mux(probing, newcomer.tuple.as_value(), comes.tuple.as_value())),
            ]

        self._send(m, self.to_right, resting_r, acknowledges=resting_r.probed)
        self._send(m, self.to_left, resting_s, acknowledges=0)
        m.submodules.join = join = self._join()
        connect(m, resting_r.scan, join.r)
        connect(m, resting_s.scan, join.s)
        connect(m, join.o_result, flipped(self.o_result))
        parts = (from_left, from_right, resting_r, resting_s, join)
        sends = self.to_right.valid | self.to_left.valid
        m.d.sync += self.busy.eq(Cat(part.busy for part in parts).any() | sends | (self.from_left.load != 0))
        return m

    def _send(self, m, channel, resting, *, acknowledges):
        """Send the oldest tuple on if the neighbour has fewer; an acknowledgement goes first."""
        here = (self.from_left if channel is self.to_right else self.from_right).load
        lighter = Signal(name=f"lighter_{resting.side}")
        m.d.comb += resting.send.eq(resting.offers & lighter & channel.room & ~acknowledges)
        m.d.sync += [
            lighter.eq(channel.load < here),
            channel.valid.eq(resting.send | acknowledges),
            channel.message.enters.eq(resting.send),
            channel.message.removes.eq(acknowledges),
            channel.message.tuple.eq(resting.oldest),
        ]
