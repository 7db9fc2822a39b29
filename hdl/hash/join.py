"""Hash join: both windows whole, each behind a hash table, two tuples a cycle whatever the window."""

from amaranth.hdl import Module
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import connect_gate, join_ports
from streamjoin.hdl.hash.parameters import HashParameters
from streamjoin.hdl.hash.results import Results
from streamjoin.hdl.hash.window_pair import WindowPair
from streamjoin.hdl.lib.input_gate import InputGate


class HashJoin(Part):
    """A window join of R and S that takes one tuple of each in every cycle.

    Why each pair meets exactly once. Tuples go through one pipeline in the order of their arrival, and of two that
    arrived in one cycle R is ahead. At its end a tuple looks up partners among those of the other stream that came
    before it, and is stored for those that come after (:class:`WindowPair`). Hence the later tuple of a pair finds the
    earlier one, if that is in the window, and never the other way round.

    Why it cannot deadlock. The pipeline never stops; tuples wait in front of it. Walks wait for room in the queue of
    results alone, which waits for the output alone; a walk ends after as many visits as the window has tuples; probes
    wait for walks to end, and what holds back tuples is the probes in a queue and the walks of an epoch.

    Cost. Half a cycle a tuple: one of each stream a cycle, as long as in each window walks visit less than one tuple a
    cycle on average (that is a half for each probe that finds nothing, with the buckets that there are by default, and
    one for each result) and at most one result leaves in a cycle. A pair that comes alone is out after 22 cycles.

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
        settle = WindowPair.FRONT + 4
        m.submodules.gate = gate = InputGate(p.layout, p.windows, on_full=p.on_full, start=2, settle=settle)
        connect_gate(m, self, gate, p.layout)
        # A cycle each for the warning and for the gate, which is told here, and the one in which it opened.
        m.submodules.windows = windows = WindowPair(p.layout, p.groups, p.sizes, pending=3)
        m.submodules.results = results = Results(p.layout.result, 2, p.results)
        for n, port in enumerate(results.i):
            connect(m, windows.o[n], port)
        connect(m, results.o, flipped(self.o_result))
        for side in "rs":
            enters, full = getattr(gate, f"enter_{side}"), getattr(gate, f"full_{side}")
            m.d.comb += [
                getattr(windows, f"tuple_{side}").eq(getattr(self, f"i_{side}").p),
                getattr(windows, f"probes_{side}").eq(enters),
                getattr(windows, f"stores_{side}").eq(enters),
                getattr(windows, f"leaves_{side}").eq(enters & full),
            ]
        m.d.sync += [gate.room.eq(windows.room), gate.moving.eq(windows.busy | results.busy)]
        return m
