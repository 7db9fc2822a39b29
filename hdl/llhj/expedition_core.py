"""A core of the low-latency handshake join: it hands messages on at once, and compares in its own time."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.chain.link_arbiter import LinkArbiter
from streamjoin.hdl.chain.scan_join import ScanJoin
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.llhj.expedition import Expedition, closer
from streamjoin.hdl.llhj.window_worker import ExpeditionWorker

#: What a neighbour has decided to send, handles, and has in its register, when it hears that there is no more room.
_LATE = 3


class ExpeditionCore(Part):
    """Handles one message in a cycle, from either side.

    A tuple on its expedition is compared here and goes on at once; at its home node it leaves a copy, which rests there
    until it expires.

    Handling a message means to hand it on to the other neighbour and to give jobs to the window workers. The order of
    handling is what counts for :mod:`streamjoin.reference.models.llhj_expedition`; workers keep it, since jobs wait in
    line, each for its own window, and no job concerns both windows but by what rests in one and probes the other.

    A message that punctuates becomes a job for both windows.

    What waits for what. A message from the left waits for room on the right and for the workers, one from the right
    for room on both sides, for the workers, and if it is to fly until one before it has landed. Workers wait for the
    comparators, those for the output.

    Parameters
    ----------
    expedition
        The join.
    last
        Whether this is the core at the right end, which knows whose expedition has ended.
    shared
        Whether both windows share the comparators.
    link_queue, jobs, flight, queue
        Messages from each neighbour, jobs for each window, tuples that fly, results in each lane that may wait.

    Members
    -------
    from_left, to_right, from_right, to_left
        The neighbours.
    o_result
        Results, in no particular order.
    busy
        Something was inside a cycle ago.
    """

    def __init__(
        self,
        expedition: Expedition,
        *,
        last: bool,
        shared: bool,
        link_queue: int,
        jobs: int,
        flight: int,
        queue: int,
    ):
        self._expedition = expedition
        self._last = last
        self._link_queue = link_queue
        self._worker = lambda side: ExpeditionWorker(expedition, side, flight=flight, jobs=jobs)
        self._flight = flight
        self._join = lambda: ScanJoin(
            expedition.layout, expedition.lanes, shared=shared, queue=queue, latency=expedition.latency
        )
        super().__init__(
            {
                "from_left": In(expedition.channel(expedition.rightward)),
                "to_right": Out(expedition.channel(expedition.rightward)),
                "from_right": In(expedition.channel(expedition.leftward)),
                "to_left": Out(expedition.channel(expedition.leftward)),
                "o_result": Out(expedition.layout.results),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        expedition = self._expedition
        m.submodules.left = from_left = FIFO.with_reserve(expedition.rightward, self._link_queue, _LATE)
        m.submodules.right = from_right = FIFO.with_reserve(expedition.leftward, self._link_queue, _LATE)
        for channel, queue in ((self.from_left, from_left), (self.from_right, from_right)):
            m.d.comb += [
                queue.i.p.eq(channel.message),
                queue.i.valid.eq(channel.valid),
                channel.room.eq(~queue.almost_full),
            ]
        m.submodules.worker_r = worker_r = self._worker("r")
        m.submodules.worker_s = worker_s = self._worker("s")
        heads = _Heads(from_left.o.p, from_right.o.p, last=self._last)
        arbiter = self._arbitrate(m, from_left, from_right, heads, worker_r.room & worker_s.room)
        ended = self._ended(m, arbiter.take_left & heads.left.valid) if self._last else heads.right.ended
        onward = self._hand_on(m, heads, arbiter, ended)
        self._give_jobs(m, heads, arbiter, ended, worker_r, worker_s)
        if expedition.layout.numbered:
            self._punctuate(m, heads, arbiter, onward, (worker_r, worker_s))
        m.submodules.join = join = self._join()
        connect(m, worker_r.scan, join.r)
        connect(m, worker_s.scan, join.s)
        connect(m, join.o_result, flipped(self.o_result))
        parts = (from_left, from_right, worker_r, worker_s, join)
        m.d.sync += self.busy.eq(Cat(part.busy for part in parts).any())
        return m

    def _arbitrate(self, m, from_left, from_right, heads, workers_have_room) -> LinkArbiter:
        """Which message is handled; no more tuples are in flight than may be."""
        aloft = Signal(range(self._flight + 1))
        arbiter = LinkArbiter(
            m,
            from_left,
            from_right,
            may_left=workers_have_room & (heads.left.acknowledges | self.to_right.room),
            may_right=workers_have_room
            & self.to_left.room
            & (~heads.acknowledged | self.to_right.room)
            & (~heads.flies | (aloft != self._flight)),
        )
        landed = arbiter.take_left & heads.left.acknowledges
        m.d.sync += aloft.eq(aloft + (arbiter.take_right & heads.flies) - landed)
        return arbiter

    def _hand_on(self, m, heads, arbiter, ended):
        """Messages to both neighbours; returns the one to the right."""
        left, right = heads.left, heads.right
        # What goes to a neighbour stands in a register: nobody's logic begins with another's.
        onward, backward = Signal(self._expedition.rightward), Signal(self._expedition.leftward)
        goes_onward = Signal()
        m.d.sync += [
            goes_onward.eq((arbiter.will_left & ~left.acknowledges) | (arbiter.will_right & heads.acknowledged)),
            self.to_right.valid.eq(goes_onward),
            self.to_right.message.eq(onward),
            self.to_left.valid.eq(arbiter.take_right),
            self.to_left.message.eq(backward),
        ]
        m.d.comb += [
            onward.eq(left),
            onward.acknowledges.eq(~arbiter.from_left),
            onward.valid.eq(left.valid & arbiter.from_left),
            onward.fresh.eq(left.fresh & ~left.arrives & arbiter.from_left),
            onward.hops.eq(closer(left.hops)),
            onward.arrives.eq(left.hops <= 1),
            onward.expired.hops.eq(closer(left.expired.hops)),
            backward.eq(right),
            backward.fresh.eq(heads.flies),
            backward.hops.eq(closer(right.hops)),
            backward.arrives.eq(right.hops <= 1),
            backward.expired.hops.eq(closer(right.expired.hops)),
            backward.ended.place.eq(ended.place),
            backward.ended.hops.eq(closer(ended.hops)),
        ]
        return onward

    def _give_jobs(self, m, heads, arbiter, ended, worker_r, worker_s):
        """What a message means for what rests here of both streams."""
        expedition, left, right, from_left = self._expedition, heads.left, heads.right, arbiter.from_left

        def ahead(name, place):
            """In the cycle in which a message is taken, what could be told from it in the one before: it was there."""
            register = Signal(place.shape(), name=name, reset_less=True)
            m.d.sync += register.eq(place)
            return register

        first_s = ahead("first_s", expedition.here("s", left.expired, rightward=True))
        first_r = ahead("first_r", expedition.here("r", right.expired, rightward=False))
        end_r = expedition.here("r", ended, rightward=False)
        if not self._last:
            end_r = ahead("end_r", end_r)
        for worker, probes, rests in (
            (worker_r, right.valid & ~from_left, heads.r_at_home & from_left),
            (worker_s, left.valid & from_left, heads.s_at_home & ~from_left),
        ):
            m.d.comb += [
                worker.job.probes.eq(probes),
                worker.job.rests.eq(rests),
                worker.job.needs_store.eq(probes | rests),
                worker.job.fly.eq(~from_left & heads.flies),
                worker.job.land.eq(from_left & left.acknowledges),
                worker.job.tuple.eq(Mux(from_left, left.tuple.as_value(), right.tuple.as_value())),
            ]
        m.d.comb += [
            worker_r.job.first.eq(first_r),
            worker_r.job.end.eq(end_r),
            worker_s.job.first.eq(first_s),
        ]
        will_left, will_right = arbiter.will_left, arbiter.will_right
        m.d.sync += [
            worker_s.push.eq((will_left & (left.valid | left.acknowledges)) | (will_right & right.fresh)),
            worker_r.push.eq((will_right & right.valid) | (will_left & heads.r_at_home)),
        ]

    def _punctuate(self, m, heads, arbiter, onward, workers):
        """A message that punctuates goes on to the right, and is a job for both workers."""
        punctuates = arbiter.from_left & heads.left.punctuates
        m.d.comb += onward.punctuates.eq(punctuates)
        for worker in workers:
            with m.If(punctuates):
                m.d.comb += [worker.job.punctuates.eq(1), worker.job.needs_store.eq(1)]
            with m.If(arbiter.will_left & heads.left.punctuates):
                m.d.sync += worker.push.eq(1)

    def _ended(self, m, ends):
        """At the right end: how many of R have ended their expedition, as a mark for the core here."""
        expedition = self._expedition
        ended = Signal(expedition.marks["r"], init={"hops": expedition.cores})
        with m.If(ends):
            with m.If(ended.hops == 1):
                m.d.sync += [ended.hops.eq(expedition.cores), ended.place.eq(expedition.rings["r"].after(ended.place))]
            with m.Else():
                m.d.sync += ended.hops.eq(ended.hops - 1)
        return ended


class _Heads:
    """The messages at the exits of both queues, and what can be told from them.

    Attributes
    ----------
    left, right
        The messages from either side: R and what punctuates, and S.
    r_at_home, s_at_home
        Its tuple is to rest here.
    flies
        A tuple of S that is not at home yet goes on to the left, and is kept in flight.
    acknowledged
        Whoever sent it keeps it in flight until told that it came.
    """

    def __init__(self, left, right, *, last: bool):
        self.left, self.right = left, right
        self.r_at_home = left.fresh & left.arrives
        self.s_at_home = right.fresh & right.arrives
        self.flies = right.fresh & ~right.arrives
        # To the right of the last core there is nobody.
        self.acknowledged = right.fresh & (not last)
