"""The window worker of an asynchronous handshake join: what rests of one stream at a core."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.chain.scan_join import scan
from streamjoin.hdl.chain.window_store import WindowStore
from streamjoin.hdl.handshake_async.handover import Handover
from streamjoin.hdl.lib.fifo import FIFO


class HandoverWorker(Part):
    """Does the jobs of one window one after the other, and offers the oldest tuple that has not been sent on.

    A job may let its tuple rest here; scan all that rests here for it; and remove the oldest tuple, of R before the
    scan, of S after it. Removing and sending do not disturb a scan that goes on, and so need not wait for it.

    Cost. A scan takes a cycle for each row, one for each tuple that is sent meanwhile, and one more before the next job
    that scans or stores; any other job takes one cycle.

    Parameters
    ----------
    handover
        The join.
    side
        Whose tuples rest here: ``"r"`` or ``"s"``.
    end
        Whether this is the last core of the stream, where tuples stay until they are removed. Elsewhere tuples of R
        go when they are sent, tuples of S when a job removes them.

    Members
    -------
    job, push, room
        A job enters when ``push`` is up, which needs ``room`` in the cycle before.
    probed
        A job that scans begins in this cycle.
    offers, oldest, send
        There is a tuple to be sent on; it is sent in this cycle.
    goes
        A tuple is sent on in this cycle, or removed at the end.
    scan
        Rows beside the tuple of a job.
    busy
        There are jobs, or a scan goes on.
    """

    LATENCY = WindowStore.LATENCY

    def __init__(self, handover: Handover, side: str, *, end: bool):
        self._handover = handover
        self.side = side
        self._end = end
        tuple_ = handover.layout.tuple
        super().__init__(
            {
                "job": In(handover.job),
                "push": In(1),
                "room": Out(1),
                "probed": Out(1),
                "offers": Out(1),
                "oldest": Out(tuple_),
                "send": In(1),
                "goes": Out(1),
                "scan": Out(scan(handover.layout, handover.lanes)),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        ring = self._handover.rings[self.side]
        m.submodules.jobs = jobs = FIFO.with_reserve(self._handover.job, self._handover.jobs, 1)
        m.submodules.window = window = WindowStore(self._handover.layout.tuple, ring)
        job = jobs.o.p
        take, removes = Signal(), Signal()
        m.d.comb += [
            jobs.i.p.eq(self.job),
            jobs.i.valid.eq(self.push),
            self.room.eq(~jobs.almost_full),
            jobs.o.ready.eq(window.ready | ~job.needs_store),
            take.eq(jobs.o.valid & jobs.o.ready),
            self.probed.eq(take & job.probes),
            removes.eq(take & job.removes),
            self.goes.eq(removes if self._end else self.send),
            self.busy.eq(jobs.busy | window.busy),
        ]

        # The place after the first is kept beside it, so that neither has to be computed when a scan begins.
        first = Signal(ring.place)
        following = Signal(ring.place, init=ring.nth(1))
        keeps_sent = self.side == "s"
        with m.If(removes | (0 if keeps_sent else self.send)):
            m.d.sync += [first.eq(following), following.eq(ring.after(following))]
        if not self._end:
            unsent, may_fly = self._unsent(m, ring, removes) if keeps_sent else (first, 1)
            m.d.comb += self.offers.eq(self._fetch_oldest(m, window, unsent) & may_fly)

        from_first = Mux(job.removes, following.as_value(), first.as_value()) if self.side == "r" else first
        m.d.comb += [
            window.tuple.eq(job.tuple),
            window.store.eq(take & job.rests),
            window.begin.eq(self.probed),
            window.first.eq(from_first),
            window.end.eq(window.free),
            window.go.eq(self.scan.go),
            self.scan.wants.eq(window.walking),
            self.scan.probe.eq(window.probe),
            self.scan.mask.eq(window.mask),
            *(self.scan.resting[lane].eq(resting) for lane, resting in enumerate(window.resting)),
        ]
        return m

    def _unsent(self, m, ring, removes):
        """Where those are that have not been sent, if others stay until they are removed; and whether one more may."""
        unsent = Signal(ring.place)
        with m.If(self.send):
            m.d.sync += unsent.eq(ring.after(unsent))
        aloft = Signal(range(self._handover.flight + 1))
        m.d.sync += aloft.eq(aloft + self.send - removes)
        return unsent, aloft != self._handover.flight

    def _fetch_oldest(self, m, window, unsent):
        """Whether the oldest tuple that has not been sent is at hand; it is fetched as soon as the last one was."""
        holds, fetching = Signal(), Signal()
        m.d.comb += [
            window.wanted.eq(unsent),
            window.fetch.eq((unsent.as_value() != window.free.as_value()) & ~fetching & ~holds),
        ]
        m.d.sync += [
            fetching.eq((fetching | window.fetch) & ~window.fetched),
            holds.eq((holds | window.fetched) & ~self.send),
        ]
        with m.If(window.fetched):
            m.d.sync += self.oldest.eq(window.picked)
        return holds
