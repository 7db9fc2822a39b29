"""Hash join of several tuples a cycle: units that own the keys, a network that brings tuples to them."""

from itertools import pairwise

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import connect_gate, join_ports
from streamjoin.hdl.hash.dispatcher import Dispatcher
from streamjoin.hdl.hash.distribution import Distribution
from streamjoin.hdl.hash.early_leavers import EarlyLeavers
from streamjoin.hdl.hash.flight_guard import FlightGuard
from streamjoin.hdl.hash.hash_unit import HashUnit
from streamjoin.hdl.hash.parameters import FLIGHT_EPOCH, HashParameters
from streamjoin.hdl.hash.results import Results
from streamjoin.hdl.hash.slot_gate import SlotGate

#: Cycles after which whatever moves shows.
SETTLE = 24


class WideHashJoin(Part):
    """A window join of R and S that takes several tuples of each in every cycle.

    Tuples are numbered as they enter (:class:`Dispatcher`), and go through a butterfly of switches
    (:class:`Distribution`) to the unit that is the home of their key (:class:`HashUnit`), of which there are twice as
    many as tuples of a stream in a cycle. They may overtake each other on the way; their numbers tell who came first,
    and the guard (:class:`FlightGuard`) how far they can be apart. Why each pair meets exactly once, the unit says.

    Why it cannot deadlock. Walks wait for the output alone, and end. Tuples in the ring of units wait for walks, and
    for each other as the unit says; tuples from home for the ring and for walks; the network for the units; and the
    gate for all of these, and for the tuples of an epoch to arrive.

    Cost. A unit takes a tuple of each stream in a cycle, and on average half of one comes to it. Keys that are so
    frequent that one unit has to take more than that slow down all; tuples for which their home has no room visit
    others, too, which costs a cycle there.

    Members
    -------
    i_r, i_s
        Tuples in, in slots; both transfer together.
    o_result
        Results, in no particular order.
    drain, drained, halted, discarding, dropped, overflows
        As in :class:`streamjoin.hdl.lib.input_gate.InputGate`.
    """

    #: The units are a ring.
    closed = True

    def __init__(self, parameters: HashParameters):
        self._parameters = parameters
        super().__init__(join_ports(parameters.layout))

    def elaborate(self, platform):
        m = Module()
        p = self._parameters
        placed, sizes = p.placed_layout, p.unit_sizes
        m.submodules.gate = gate = SlotGate(p.layout, on_full=p.on_full, start=2, settle=SETTLE)
        connect_gate(m, self, gate, p.layout)
        m.submodules.guard = guard = FlightGuard(FLIGHT_EPOCH, 3 * p.width, 2 * sizes.units)
        m.submodules.dispatcher = dispatcher = Dispatcher(p.layout, placed, p.groups, pending=3)
        m.d.comb += [
            dispatcher.enters.eq(gate.enters),
            dispatcher.transfer_r.eq(self.i_r.p),
            dispatcher.transfer_s.eq(self.i_s.p),
            dispatcher.epoch.eq(guard.now),
            guard.enters.eq(gate.enters),
            guard.count.eq(dispatcher.sent),
            guard.came.eq(dispatcher.came),
        ]
        units = [HashUnit(placed, p.groups, sizes) for _ in range(sizes.units)]
        for n, unit in enumerate(units):
            m.submodules[f"core{n}"] = unit
        for unit, following in pairwise([*units, units[0]]):
            connect(m, unit.o, following.i)
        networks = [self._distribute(m, side, dispatcher, units) for side in "rs"]

        m.submodules.results = results = Results(placed.result, 2 * sizes.units, p.results)
        connect(m, results.o, flipped(self.o_result))
        done = []
        for n, unit in enumerate(units):
            for side in range(2):
                connect(m, unit.o_results[side], results.i[2 * n + side])
            done += [unit.done_r, unit.done_s]
        m.d.comb += [arrival.eq(each) for arrival, each in zip(guard.done, done, strict=True)]
        busy = Cat(unit.busy for unit in units).any() | networks[0].busy | networks[1].busy | dispatcher.busy
        m.d.sync += [
            gate.room.eq(dispatcher.room & ~guard.halt),
            gate.moving.eq(busy | guard.flying | results.busy),
        ]
        if p.spans is not None:
            self._count_overflows(m, gate, p.spans)
        return m

    def _distribute(self, m, side, dispatcher, units):
        """The network of a stream, from the dispatcher's lanes to the units."""
        lanes = getattr(dispatcher, f"o_{side}")
        network = Distribution(lanes[0].p.shape(), len(units), self._parameters.lane_queue)
        m.submodules[f"network_{side}"] = network
        newest = getattr(dispatcher, f"newest_{side}")
        for lane, port in zip(lanes, network.i, strict=True):
            connect(m, lane, port)
        for port, unit in zip(network.o, units, strict=True):
            connect(m, port, getattr(unit, f"i_{side}"))
            # Late is as good: who is dead then was so before.
            late = Signal.like(newest, name=f"newest_{side}", init=0)
            m.d.sync += late.eq(newest)
            m.d.comb += getattr(unit, f"newest_{side}").eq(late)
        return network

    def _count_overflows(self, m, gate, spans: tuple[int, int]):
        p = self._parameters
        early = []
        for n, side in enumerate("rs"):
            port = getattr(self, f"i_{side}")
            leavers = EarlyLeavers(p.width, p.windows[n], spans[n], p.time_width)
            m.submodules[f"leavers_{side}"] = leavers
            m.d.comb += [
                leavers.enters.eq(gate.enters),
                leavers.count.eq(port.p.count),
                *(leavers.times[i].eq(port.p.slots[i].time) for i in range(p.width)),
            ]
            early.append(leavers.early)
        m.d.sync += gate.early.eq(early[0] + early[1])
