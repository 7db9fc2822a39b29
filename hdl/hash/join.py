"""Hash join: both windows whole, each behind a hash table, two tuples a cycle whatever the window."""

from amaranth.hdl import Module, Signal
from amaranth.lib import data
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import connect_gate, join_ports
from streamjoin.hdl.hash.hash_window import HashWindow
from streamjoin.hdl.hash.parameters import HashParameters
from streamjoin.hdl.lib.input_gate import InputGate
from streamjoin.hdl.lib.merger import Merger
from streamjoin.hdl.lib.pipeline import delayed

#: Cycles from the gate to the tables: the tuple, the ends of the interval it looks for, the buckets.
FRONT = 3
#: Probes that may come after a queue has said that it is full: those on their way, and while the gate is being told.
RESERVE = FRONT + HashWindow.LATENCY + 3


class HashJoin(Part):
    """A window join of R and S that takes one tuple of each in every cycle.

    Why each pair meets exactly once. Tuples go through one pipeline in the order of their arrival, and of two that
    arrived in one cycle R is ahead. At its end a tuple looks up partners among those of the other stream that came
    before it, and is stored for those that come after: a window stores before it looks up (:class:`HashWindow`), S is
    stored a cycle later than R, so that an R tuple does not see the S tuple beside it. Hence the later tuple of a pair
    finds the earlier one, if that is in the window, and never the other way round.

    Why it cannot deadlock. The pipeline never stops; tuples wait in front of it. Walks wait for room in the queue of
    results alone, which waits for the output alone; a walk ends after as many visits as the window has tuples; probes
    wait for walks to end, and what holds back tuples is the probes in a queue and the walks of an epoch.

    Cost. Half a cycle a tuple: one of each stream a cycle, as long as in each window walks visit less than one tuple a
    cycle on average (that is a half for each probe that finds nothing, with the buckets that there are by default, and
    one for each result) and at most one result leaves in a cycle. A pair that comes alone is out after 20 cycles.

    Members
    -------
    i_r, i_s
        Tuples in; both are ready in the same cycles.
    o_result
        Results, in no particular order.
    drain, drained, halted, discarding, dropped, overflows
        As in :class:`streamjoin.hdl.lib.input_gate.InputGate`.
    """

    def __init__(self, parameters: HashParameters):
        self._parameters = parameters
        super().__init__(join_ports(parameters.layout))

    def elaborate(self, platform):
        m = Module()
        p = self._parameters
        # Whatever is on its way shows within so many cycles.
        m.submodules.gate = gate = InputGate(p.layout, p.windows, on_full=p.on_full, start=2, settle=FRONT + 4)
        connect_gate(m, self, gate, p.layout)
        m.submodules.results = results = Merger(p.layout.result, 4)
        connect(m, results.o, flipped(self.o_result))
        windows = {}
        for n, side in enumerate("rs"):
            windows[side] = window = HashWindow(
                p.layout,
                side,
                p.rings[side],
                p.groups,
                depth=p.depth_of(side),
                queue=p.probe_queue,
                results=p.result_queue,
                reserve=RESERVE,
            )
            m.submodules[f"window_{side}"] = window
            connect(m, window.o, results.i[n])
        self._feed(m, "r", "s", gate.enter_r, windows, late=0)
        self._feed(m, "s", "r", gate.enter_s, windows, late=1)

        room, moving = Signal(), Signal()
        m.d.sync += [
            room.eq(windows["r"].room & windows["s"].room),
            moving.eq(windows["r"].busy | windows["s"].busy | results.busy),
        ]
        m.d.comb += [gate.room.eq(room), gate.moving.eq(moving)]
        return m

    def _feed(self, m, side, other, enters, windows, *, late: int):
        """Tuples of one side on their way to the other one's window, and ``late`` cycles later to their own."""
        p = self._parameters
        groups, port = p.groups, getattr(self, f"i_{side}")
        valid = delayed(m, enters, FRONT, resets=True, name=f"valid_{side}")
        first = delayed(m, port.p, 1, name=f"tuple_{side}")
        tuple_ = delayed(m, first, FRONT - 1, name=f"tuple_{side}")
        # The ends of the interval that it looks for, then the buckets.
        key = data.View(p.layout.tuple, first).key
        ends = groups.ends(m, side, key)
        key = delayed(m, key, 1, name=f"key_{side}")
        stored, bank = groups.stored(key, p.depth_of(side)), groups.parity(key)
        looked_up, wanted = groups.looked_up(ends, p.depth_of(other)), groups.wanted(ends)

        theirs, own = windows[other], windows[side]
        m.d.comb += [theirs.probes.eq(valid), theirs.probe.eq(tuple_)]
        m.d.comb += [
            theirs.looked_up[n].eq(delayed(m, bucket, 1, name=f"looked_up_{side}"))
            for n, bucket in enumerate(looked_up)
        ]
        m.d.comb += [
            theirs.wanted.eq(delayed(m, wanted, 1, name=f"wanted_{side}")),
            own.enter.eq(delayed(m, valid, late, resets=True, name=f"enter_{side}")),
            own.tuple.eq(delayed(m, tuple_, late, name=f"stored_{side}")),
            own.bank.eq(delayed(m, bank, 1 + late, name=f"bank_{side}")),
            own.bucket.eq(delayed(m, stored, 1 + late, name=f"bucket_{side}")),
        ]
