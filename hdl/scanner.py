"""What rests of one stream at a core of a low-latency handshake join, and the scans over it."""

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import memory
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.expedition import Expedition
from streamjoin.hdl.part import Part
from streamjoin.hdl.queue import Queue
from streamjoin.hdl.ram import NEVER_COLLIDES


class Scanner(Part):
    """Does one job after the other: what rests here changes, and is looked at, in the order of the jobs alone.

    A job may store its tuple; let it fly, which keeps it until a later job says that the oldest one has landed; and
    scan: show all that rests from ``first`` to before ``end``, and before it all that flies, row by row beside the
    tuple of the job. Scans of S end where S has been stored so far.

    Cost. A scan takes a cycle for each row that it touches and each tuple that flies, if ``go`` is up; any other job
    takes one cycle. What was asked for in one cycle is shown ``LATENCY`` cycles later.

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
        A job enters when ``push`` is up, which needs ``room`` in that cycle.
    wants, go
        There is a row to be asked for; it may be.
    probe, resting, mask
        The tuple of a job, one that rests for each lane, and which of them count.
    busy
        Something is inside.
    """

    #: From the cycle in which a row is asked for to the one in which it is shown.
    LATENCY = 3

    def __init__(self, expedition: Expedition, side: str, *, flight: int, jobs: int):
        self._expedition = expedition
        self._side = side
        self._flight = flight if side == "s" else 0
        self._jobs = jobs
        shape, lanes = expedition.pairing.tuple, expedition.lanes
        super().__init__(
            {
                "job": In(expedition.job),
                "push": In(1),
                "room": Out(1),
                "wants": Out(1),
                "go": In(1),
                "probe": Out(shape),
                "resting": Out(shape).array(lanes),
                "mask": Out(lanes),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        expedition, side, lanes = self._expedition, self._side, self._expedition.lanes
        rows = expedition.rows[side]
        m.submodules.jobs = jobs = Queue(expedition.job, self._jobs)
        job = jobs.o.p
        probes = job.scan & (job.is_s ^ (side == "s"))
        rests = job.store & (job.is_s ^ (side == "r"))
        scanning, finishing, step, take, flies = (
            Signal(name=name) for name in ("scanning", "finishing", "step", "take", "flies")
        )
        m.d.comb += [
            jobs.i.p.eq(self.job),
            jobs.i.valid.eq(self.push),
            self.room.eq(jobs.i.ready),
            self.wants.eq(scanning),
            step.eq(scanning & self.go),
            # A scan does not mind what flies or lands once it has seen the flight; but a row may be needed to its end.
            jobs.o.ready.eq(~scanning | Mux(probes | rests, step & finishing, ~flies)),
            take.eq(jobs.o.valid & jobs.o.ready),
        ]

        # Where the next tuple will be stored.
        free = Signal(expedition.place)
        free_address = Signal(range(rows))
        with m.If(take & rests):
            m.d.sync += free.eq(expedition.after(side, free))
            with m.If(free.lane == lanes - 1):
                m.d.sync += free_address.eq(Mux(free_address == rows - 1, 0, free_address + 1))

        # Which row is next, the last one, and the lanes that count in the first and in the last.
        probe = Signal(expedition.pairing.tuple, reset_less=True)
        at, last = (Signal(expedition.place["row"].shape, name=name, reset_less=True) for name in ("at", "last"))
        address = Signal(range(rows), reset_less=True)
        from_lane, to_lane = (Signal(lanes, name=name, reset_less=True) for name in ("from_lane", "to_lane"))
        all_lanes = Const(-1, lanes)
        has_rows = Signal(reset_less=True)
        end = free if side == "s" else job.end
        any_rows = job.first.as_value() != end.as_value()
        flights, aloft, flown = self._fly(m, job, take, take & probes, step)
        m.d.comb += [flies.eq(flights != 0), finishing.eq(Mux(flies, (flights == 1) & ~has_rows, at == last))]
        with m.If(take & probes):
            m.d.sync += [
                scanning.eq(any_rows | (aloft != 0)),
                probe.eq(job.tuple),
                at.eq(job.first.row),
                address.eq(expedition.address(side, job.first)),
                last.eq(Mux(end.lane != 0, end.row, Mux(end.row == 0, 2 * rows - 1, end.row - 1))),
                from_lane.eq(all_lanes << job.first.lane),
                to_lane.eq(Mux(end.lane == 0, all_lanes, ~(all_lanes << end.lane))),
                has_rows.eq(any_rows),
            ]
        with m.Elif(step):
            m.d.sync += scanning.eq(~finishing)
            with m.If(~flies):
                m.d.sync += [
                    at.eq(Mux(at == 2 * rows - 1, 0, at + 1)),
                    address.eq(Mux(address == rows - 1, 0, address + 1)),
                    from_lane.eq(~0),
                ]

        counts = Mux(flies, 1, from_lane & (to_lane | (at != last).replicate(lanes)))
        masks = [Signal(lanes, name=f"mask{stage}") for stage in range(self.LATENCY)]
        probes_on = [Signal(self.probe.shape(), name=f"probe{n}", reset_less=True) for n in range(self.LATENCY)]
        flew = [Signal(name=f"flew{stage}", reset_less=True) for stage in range(self.LATENCY - 1)]
        m.d.sync += [
            *(later.eq(now) for later, now in zip(masks, [Mux(step, counts, 0), *masks], strict=False)),
            *(later.eq(now) for later, now in zip(probes_on, [probe, *probes_on], strict=False)),
            *(later.eq(now) for later, now in zip(flew, [flies, *flew], strict=False)),
        ]
        for lane in range(lanes):
            m.submodules[f"lane{lane}"] = lane_memory = memory.Memory(
                shape=expedition.pairing.tuple, depth=rows, init=[], attrs=NEVER_COLLIDES
            )
            write, read = lane_memory.write_port(), lane_memory.read_port()
            m.d.comb += [
                write.addr.eq(free_address),
                write.data.eq(job.tuple),
                write.en.eq(take & rests & (free.lane == lane)),
                read.addr.eq(address),
            ]
            # What comes out of a memory comes late: it goes straight into a register.
            fetched, shown = (
                Signal(expedition.pairing.tuple, name=f"{name}{lane}", reset_less=True) for name in ("fetched", "shown")
            )
            m.d.sync += [fetched.eq(read.data), shown.eq(fetched)]
            if lane == 0 and flown is not None:
                with m.If(flew[-1]):
                    m.d.sync += shown.eq(flown)
            m.d.comb += self.resting[lane].eq(shown)
        m.d.comb += [
            self.probe.eq(probes_on[-1]),
            self.mask.eq(masks[-1]),
            self.busy.eq(jobs.busy | scanning | Cat(masks).any()),
        ]
        return m

    def _fly(self, m, job, take, begin, step):
        """Tuples that fly: how many are still to be shown, how many there are, and what was asked for, in time."""
        if not self._flight:
            return Const(0), Const(0), None
        shape = self._expedition.pairing.tuple
        places = Array(Signal(shape, name=f"flying{n}", reset_less=True) for n in range(self._flight))
        head, tail, at = (Signal(range(self._flight), name=n) for n in ("head", "tail", "flight_at"))
        aloft, flights = (Signal(range(self._flight + 1), name=n) for n in ("aloft", "flights"))

        def after(place):
            return Mux(place == self._flight - 1, 0, place + 1)

        with m.If(take):
            m.d.sync += aloft.eq(aloft + job.fly - job.land)
            with m.If(job.fly):
                m.d.sync += [places[head].eq(job.tuple), head.eq(after(head))]
            with m.If(job.land):
                m.d.sync += tail.eq(after(tail))
        with m.If(begin):
            m.d.sync += [flights.eq(aloft), at.eq(tail)]
        with m.Elif(step & (flights != 0)):
            m.d.sync += [flights.eq(flights - 1), at.eq(after(at))]
        asked, flown = (Signal(shape, name=name, reset_less=True) for name in ("asked_flying", "flown"))
        m.d.sync += [asked.eq(places[at]), flown.eq(asked)]
        return flights, aloft, flown
