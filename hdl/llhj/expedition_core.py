"""A core of the low-latency handshake join: it hands messages on at once, and compares in its own time."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.chain.link_arbiter import take_turns
from streamjoin.hdl.chain.scan_join import ScanJoin
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.llhj.expedition import Expedition, closer
from streamjoin.hdl.llhj.window_worker import ExpeditionWorker

#: What a neighbour has decided to send, handles, and has in its register, when it hears that there is no more room.
_LATE = 3


class ExpeditionCore(Part):
    """Handles one message in a cycle, from either side.

    Handling a message means to hand it on to the other neighbour and to give jobs to the scanners. The order of
    handling is what counts for :mod:`streamjoin.reference.models.llhj_expedition`; scanners keep it, since jobs wait in
    line, each for its own window, and no job concerns both windows but by what rests in one and probes the other.

    A message that punctuates becomes a job for both windows.

    What waits for what. A message from the left waits for room on the right and for the scanners, one from the right
    for room on both sides, for the scanners, and if it is to fly until one before it has landed. Scanners wait for the
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
        self._scanner = lambda side: ExpeditionWorker(expedition, side, flight=flight, jobs=jobs)
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
        m.submodules.resting_r = resting_r = self._scanner("r")
        m.submodules.resting_s = resting_s = self._scanner("s")
        have_room = resting_r.room & resting_s.room

        left, right = from_left.o.p, from_right.o.p
        at_home = {"r": left.fresh & left.arrives, "s": right.fresh & right.arrives}
        flies = right.fresh & ~right.arrives
        # Whoever sent us a fresh S keeps it in flight; to the right of the last core there is nobody.
        acknowledges = right.fresh & (not self._last)
        aloft = Signal(range(self._flight + 1))
        will_left, will_right, take_left, take_right, from_the_left = take_turns(
            m,
            from_left,
            from_right,
            may_left=have_room & (left.acknowledges | self.to_right.room),
            may_right=have_room
            & self.to_left.room
            & (~acknowledges | self.to_right.room)
            & (~flies | (aloft != self._flight)),
        )
        m.d.sync += aloft.eq(aloft + (take_right & flies) - (take_left & left.acknowledges))

        # What goes to a neighbour stands in a register: nobody's logic begins with another's.
        onward, backward = Signal(expedition.rightward), Signal(expedition.leftward)
        goes_onward = Signal()
        m.d.sync += [
            goes_onward.eq((will_left & ~left.acknowledges) | (will_right & acknowledges)),
            self.to_right.valid.eq(goes_onward),
            self.to_right.message.eq(onward),
            self.to_left.valid.eq(take_right),
            self.to_left.message.eq(backward),
        ]
        m.d.comb += [
            onward.eq(left),
            onward.acknowledges.eq(~from_the_left),
            onward.valid.eq(left.valid & from_the_left),
            onward.fresh.eq(left.fresh & ~left.arrives & from_the_left),
            onward.hops.eq(closer(left.hops)),
            onward.arrives.eq(left.hops <= 1),
            onward.expired.hops.eq(closer(left.expired.hops)),
        ]
        ended = self._ended(m, take_left & left.valid) if self._last else right.ended
        m.d.comb += [
            backward.eq(right),
            backward.fresh.eq(flies),
            backward.hops.eq(closer(right.hops)),
            backward.arrives.eq(right.hops <= 1),
            backward.expired.hops.eq(closer(right.expired.hops)),
            backward.ended.place.eq(ended.place),
            backward.ended.hops.eq(closer(ended.hops)),
        ]

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
        for scanner in (resting_r, resting_s):
            probes, rests = left.valid & from_the_left, at_home["s"] & ~from_the_left
            if scanner is resting_r:
                probes, rests = right.valid & ~from_the_left, at_home["r"] & from_the_left
            m.d.comb += [
                scanner.job.probes.eq(probes),
                scanner.job.rests.eq(rests),
                scanner.job.needs_store.eq(probes | rests),
                scanner.job.fly.eq(~from_the_left & flies),
                scanner.job.land.eq(from_the_left & left.acknowledges),
                scanner.job.tuple.eq(Mux(from_the_left, left.tuple.as_value(), right.tuple.as_value())),
            ]
        m.d.comb += [
            resting_r.job.first.eq(first_r),
            resting_r.job.end.eq(end_r),
            resting_s.job.first.eq(first_s),
        ]
        m.d.sync += [
            resting_s.push.eq((will_left & (left.valid | left.acknowledges)) | (will_right & right.fresh)),
            resting_r.push.eq((will_right & right.valid) | (will_left & at_home["r"])),
        ]
        if expedition.layout.numbered:
            punctuates = from_the_left & left.punctuates
            m.d.comb += onward.punctuates.eq(punctuates)
            for scanner in (resting_r, resting_s):
                with m.If(punctuates):
                    m.d.comb += [scanner.job.punctuates.eq(1), scanner.job.needs_store.eq(1)]
                with m.If(will_left & left.punctuates):
                    m.d.sync += scanner.push.eq(1)
        m.submodules.join = join = self._join()
        connect(m, resting_r.scan, join.r)
        connect(m, resting_s.scan, join.s)
        connect(m, join.o_result, flipped(self.o_result))
        parts = (from_left, from_right, resting_r, resting_s, join)
        m.d.sync += self.busy.eq(Cat(part.busy for part in parts).any())
        return m

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
