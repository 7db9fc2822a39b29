"""The match stage: reads the tuples that walks visit, and compares each with the one that looks for it."""

from amaranth.hdl import Module, Signal
from amaranth.lib import memory
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.hash.chain_walker import SLOTS, visit_layout
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.hash.window_ring import WindowRing
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.pipeline import delayed
from streamjoin.hdl.lib.ram import NEVER_COLLIDES
from streamjoin.hdl.lib.split_memory import SplitMemory


class MatchStage(Part):
    """Takes a visit in every cycle, and has its result in the queue six cycles later, if there is one.

    Parameters
    ----------
    layout
        Layouts and join condition.
    side
        ``"r"`` or ``"s"``: whose tuples are stored here.
    ring
        Where they are.
    groups
        What belongs into which bank.
    queue
        Results that may wait before ``go`` goes down.

    Members
    -------
    enter, place, tuple
        A tuple to be stored.
    begins, slot, probe
        A walk may begin, on behalf of which tuple of the other side.
    visits, visit
        A place to be compared with the tuple that has the slot.
    go
        Visits may be made in the next cycle.
    o
        Results.
    busy
        There is something inside.
    """

    #: Cycles from a visit to its result.
    LATENCY = 6

    def __init__(self, layout: TupleLayout, side: str, ring: WindowRing, groups: KeyGroups, queue: int):
        self._layout = layout
        self._side = side
        self._ring = ring
        self._groups = groups
        self._queue = queue
        super().__init__(
            {
                "enter": In(1),
                "place": In(ring.bits),
                "tuple": In(layout.tuple),
                "begins": In(1),
                "slot": In(range(SLOTS)),
                "probe": In(layout.tuple),
                "visits": In(1),
                "visit": In(visit_layout(ring)),
                "go": Out(1),
                "o": Out(layout.results),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        layout = self._layout
        m.submodules.tuples = tuples = SplitMemory(layout.tuple, self._ring.places, relayed=True)
        m.d.comb += [
            tuples.enter.eq(delayed(m, self.enter, 1, resets=True, name="enter")),
            tuples.into.eq(delayed(m, self.place, 1, name="place")),
            tuples.word.eq(delayed(m, self.tuple, 1, name="tuple")),
        ]

        m.submodules.results = results = FIFO.with_reserve(layout.result, self._queue, self.LATENCY + 2)
        connect(m, results.o, flipped(self.o))
        # The warning of the queue takes a cycle to reach the walker: so far visits may still come.
        m.d.sync += self.go.eq(~results.almost_full)

        m.submodules.probes = probes = memory.Memory(shape=layout.tuple, depth=SLOTS, init=[], attrs=NEVER_COLLIDES)
        new, old = probes.write_port(), probes.read_port()
        m.d.comb += [new.addr.eq(self.slot), new.data.eq(self.probe), new.en.eq(self.begins)]

        there = Signal(self.LATENCY)
        m.d.sync += there.eq(there << 1 | self.visits)
        asked = delayed(m, self.visit, 1, name="visit")
        m.d.comb += [tuples.asked.eq(asked.place), self.busy.eq(there.any() | results.busy)]
        stored = delayed(m, tuples.found, 1, name="stored")
        # Read before the next walk can have the slot.
        m.d.comb += old.addr.eq(asked.slot)
        probe = delayed(m, old.data, 2, name="probe")
        bank = delayed(m, asked.bank, 3, name="bank")
        pair = {"r": (stored, probe), "s": (probe, stored)}[self._side]

        conditions = [*layout.conditions(*pair), self._groups.of_bank(stored.key, bank)]
        held = [Signal(name=f"holds{n}") for n in range(len(conditions))]
        made, result = (Signal(layout.result, name=name, reset_less=True) for name in ("made", "result"))
        is_pair = Signal()
        m.d.sync += [
            *(holds.eq(condition) for holds, condition in zip(held, conditions, strict=True)),
            *layout.join(made, *pair),
            result.eq(made),
            is_pair.eq(there[-2]),
        ]
        distances = [delayed(m, distance, 1, name="distance") for distance in layout.distances(*pair)]
        for holds in (*held, layout.in_windows(distances, self._side)):
            with m.If(~holds):
                m.d.sync += is_pair.eq(0)
        m.d.comb += [results.i.valid.eq(is_pair), results.i.p.eq(result)]
        return m
