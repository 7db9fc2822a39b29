"""A core of the asynchronous handshake join: tuples rest here until the neighbour has fewer of them."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.chain.link_arbiter import LinkArbiter
from streamjoin.hdl.chain.scan_join import ScanJoin
from streamjoin.hdl.handshake_async.handover import Handover
from streamjoin.hdl.handshake_async.window_worker import HandoverWorker
from streamjoin.hdl.lib.fifo import FIFO


class HandoverCore(Part):
    """Handles one message in a cycle, from either side, and sends tuples on to neighbours that have fewer.

    Forwarding has two phases. A tuple of S that was sent stays in its window, marked as forwarded, until the
    neighbour's acknowledgement removes it; the window worker keeps the mark.

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
        m.submodules.worker_r = worker_r = HandoverWorker(handover, "r", end=self._last)
        m.submodules.worker_s = worker_s = HandoverWorker(handover, "s", end=self._first)
        self._receive(m, self.from_left, from_left, worker_r)
        self._receive(m, self.from_right, from_right, worker_s)
        arbiter = self._arbitrate(m, from_left, from_right, worker_r.room & worker_s.room)
        self._give_jobs(m, from_left.o.p, from_right.o.p, arbiter, worker_r, worker_s)
        self._send(m, self.to_right, worker_r, acknowledges=worker_r.probed)
        self._send(m, self.to_left, worker_s, acknowledges=0)
        m.submodules.join = join = self._join()
        connect(m, worker_r.scan, join.r)
        connect(m, worker_s.scan, join.s)
        connect(m, join.o_result, flipped(self.o_result))
        parts = (from_left, from_right, worker_r, worker_s, join)
        sends = self.to_right.valid | self.to_left.valid
        m.d.sync += self.busy.eq(Cat(part.busy for part in parts).any() | sends | (self.from_left.load != 0))
        return m

    def _receive(self, m, channel, queue, worker):
        """Messages of a neighbour wait in a queue; it is told how many tuples there are here."""
        m.d.comb += [
            queue.i.p.eq(channel.message),
            queue.i.valid.eq(channel.valid),
            channel.room.eq(~queue.almost_full),
        ]
        # That a tuple goes is known late. Counted a cycle later it only makes a core seem to have more.
        gone = Signal(name=f"gone_{worker.side}")
        m.d.sync += [
            gone.eq(worker.goes),
            channel.load.eq(channel.load + (channel.valid & channel.message.enters) - gone),
        ]

    def _arbitrate(self, m, from_left, from_right, workers_have_room) -> LinkArbiter:
        """Which message is handled. The removal of a tuple that is still on its way here waits for it."""
        left, right = from_left.o.p, from_right.o.p
        present = {side: Signal(self._handover.loads[side], name=f"present_{side}") for side in "rs"}
        arbiter = LinkArbiter(
            m,
            from_left,
            from_right,
            may_left=workers_have_room & ~((present["s"] == 0) & left.removes if self._first else 0),
            may_right=workers_have_room & ~((present["r"] == 0) & right.removes if self._last else 0),
        )
        take_left, take_right = arbiter.take_left, arbiter.take_right
        m.d.sync += [
            present["r"].eq(present["r"] + (take_left & left.enters) - (take_right & right.removes)),
            present["s"].eq(present["s"] + (take_right & right.enters) - (take_left & left.removes)),
        ]
        return arbiter

    def _give_jobs(self, m, left, right, arbiter, worker_r, worker_s):
        """What a message means for what rests here of both streams."""
        m.d.sync += [
            worker_r.push.eq(arbiter.will_right | (arbiter.will_left & left.enters)),
            worker_s.push.eq(arbiter.will_left | (arbiter.will_right & right.enters)),
        ]
        for worker, comes, probing, newcomer in (
            (worker_r, left, ~arbiter.from_left, right),
            (worker_s, right, arbiter.from_left, left),
        ):
            m.d.comb += [
                worker.job.rests.eq(~probing),
                worker.job.probes.eq(probing & newcomer.enters),
                worker.job.needs_store.eq(~probing | newcomer.enters),
                worker.job.removes.eq(probing & newcomer.removes),
                worker.job.tuple.eq(Mux(probing, newcomer.tuple.as_value(), comes.tuple.as_value())),
            ]

    def _send(self, m, channel, worker, *, acknowledges):
        """Send the oldest tuple on if the neighbour has fewer; an acknowledgement goes first."""
        here = (self.from_left if channel is self.to_right else self.from_right).load
        lighter = Signal(name=f"lighter_{worker.side}")
        m.d.comb += worker.send.eq(worker.offers & lighter & channel.room & ~acknowledges)
        m.d.sync += [
            lighter.eq(channel.load < here),
            channel.valid.eq(worker.send | acknowledges),
            channel.message.enters.eq(worker.send),
            channel.message.removes.eq(acknowledges),
            channel.message.tuple.eq(worker.oldest),
        ]
