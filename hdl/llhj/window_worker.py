"""The window worker of a low-latency handshake join: what rests of one stream at a core, and the scans over it."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.chain.scan_join import scan
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.replicated_select import replicated_mux, select_registers
from streamjoin.hdl.llhj.expedition import Expedition


class ExpeditionWorker(Part):
    """Does the jobs of one window one after the other: what rests here changes, and is looked at, in their order alone.

    A job may store its tuple; let it fly, which keeps it until a later job says that the oldest one has landed; and
    scan: show all that rests from ``first`` to before ``end``, and before it all that flies, row by row beside the
    tuple of the job. Scans of S end where S has been stored so far. Or it may punctuate: then all that was asked for
    before it is shown before it.

    Cost. A scan takes a cycle for each row that it touches and each tuple that flies, if ``go`` is up, and one more
    before the next job that needs what rests; any other job takes one cycle. With an index, see
    :class:`streamjoin.hdl.llhj.hash_window_store.HashWindowStore`.

    Parameters
    ----------
    expedition
        The join.
    side
        Whose tuples rest here: ``"r"`` or ``"s"``.
    flight
        How many tuples may fly; none of R ever does.
    jobs
        How many jobs may wait.

    Members
    -------
    job, push, room
        A job enters when ``push`` is up, which needs ``room`` in the cycle before.
    scan
        Rows, and tuples that fly, beside the tuple of a job.
    busy
        Something is inside.
    """

    def __init__(self, expedition: Expedition, side: str, *, flight: int, jobs: int):
        self._expedition = expedition
        self._side = side
        self._flight = flight if side == "s" else 0
        self._jobs = jobs
        self._latency = expedition.latency
        super().__init__(
            {
                "job": In(expedition.jobs[side]),
                "push": In(1),
                "room": Out(1),
                "scan": Out(scan(expedition.layout, expedition.lanes)),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        expedition, side = self._expedition, self._side
        m.submodules.jobs = jobs = FIFO.with_reserve(expedition.jobs[side], self._jobs, 1)
        m.submodules.window = window = expedition.window_store(side)
        job = jobs.o.p
        numbered = expedition.layout.numbered
        begin, take = Signal(name="begin"), Signal(name="take")
        flew, marks = Signal(self._latency), Signal(self._latency)
        flies, flown = self._fly(m, job, take, begin)
        m.d.comb += [
            jobs.i.p.eq(self.job),
            jobs.i.valid.eq(self.push),
            self.room.eq(~jobs.almost_full),
            self.scan.wants.eq(flies | window.walking),
            # A scan does not mind what flies or lands once it has seen the flight; but a row may be needed to its end.
            jobs.o.ready.eq(Mux(job.needs_store, window.ready, ~flies)),
            window.hold.eq(flies),
            take.eq(jobs.o.valid & jobs.o.ready),
            begin.eq(take & job.probes),
            window.tuple.eq(job.tuple),
            window.store.eq(take & job.rests),
            window.begin.eq(begin),
            window.first.eq(job.first),
            window.end.eq(window.free if side == "s" else job.end),
            window.go.eq(self.scan.go & ~flies),
            self.scan.probe.eq(window.probe),
            self.busy.eq(Cat(jobs.busy, flies, flew, marks, window.busy).any()),
            self.scan.mask.eq(window.mask | flew[-1]),
            *(self.scan.resting[lane].eq(resting) for lane, resting in enumerate(window.resting)),
        ]
        if numbered:
            m.d.sync += marks.eq(Cat(take & job.punctuates, marks))
            m.d.comb += self.scan.mark.eq(marks[-1])
            with m.If(take & job.punctuates):
                m.d.sync += self.scan.mark_order.eq(job.tuple.order)
        m.d.sync += flew.eq(Cat(flies & self.scan.go, flew))
        if flown is not None:
            is_flown = select_registers(m, "is_flown", flew[-2], flown)
            m.d.comb += self.scan.resting[0].eq(replicated_mux(is_flown, flown, window.resting[0]))
        return m

    def _fly(self, m, job, take, begin):
        """Tuples that fly: whether some are still to be shown, and what was asked for, in time."""
        if not self._flight:
            return Const(0), None
        shape = self._expedition.layout.tuple
        places = Array(Signal(shape, name=f"flying{n}", reset_less=True) for n in range(self._flight))
        head, tail, at = (Signal(range(self._flight), name=n) for n in ("head", "tail", "flight_at"))
        aloft, flights = (Signal(range(self._flight + 1), name=n) for n in ("aloft", "flights"))

        def after(place):
            return Mux(place == self._flight - 1, 0, place + 1)

        # Whether a tuple flies is known late: it is put down wherever one could.
        with m.If(aloft != self._flight):
            m.d.sync += places[head].eq(job.tuple)
        with m.If(take):
            m.d.sync += aloft.eq(aloft + job.fly - job.land)
            with m.If(job.fly):
                m.d.sync += head.eq(after(head))
            with m.If(job.land):
                m.d.sync += tail.eq(after(tail))
        # All wait for them: a bit says whether there are any, so that none has to look at their number.
        flies = Signal()
        with m.If(begin):
            m.d.sync += [flights.eq(aloft), flies.eq(aloft != 0), at.eq(tail)]
        with m.Elif(self.scan.go & flies):
            m.d.sync += [flights.eq(flights - 1), flies.eq(flights != 1), at.eq(after(at))]
        asked = [Signal(shape, name=f"flown{n}", reset_less=True) for n in range(self._latency)]
        m.d.sync += [later.eq(now) for later, now in zip(asked, [places[at], *asked], strict=False)]
        return flies, asked[-1]
