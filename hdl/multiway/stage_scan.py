"""The nested-loop join core of a stage: the window of one stream, and a scan of it for each depth of combination."""

from dataclasses import dataclass
from itertools import pairwise

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.one_hot import highest_set, one_hot_mux
from streamjoin.hdl.multiway.combination import Combination
from streamjoin.hdl.multiway.lane_bank import LaneBank, Walk, row_layout
from streamjoin.hdl.multiway.match_arbiter import match_layout
from streamjoin.hdl.multiway.order_control import OrderControl
from streamjoin.hdl.multiway.window_places import WindowPlaces


def core_ports(combination: Combination, places: WindowPlaces, depths: int) -> dict:
    """The ports of a join core: see :class:`StageScan`."""
    probe = data.StructLayout({"number": combination.number, "some": 1, "probe": combination.probe})
    return {
        "passes": In(1),
        "arrival": In(combination.arrival),
        "free": Out(places.place),
        "i": In(stream.Signature(probe)).array(depths),
        "o": Out(data.StructLayout({"valid": 1, "match": match_layout(places)})).array(depths),
        "pause": In(depths),
    }


class StageScan(Part):
    """Compares combinations with what their arrivals see of the window, ``lanes`` tuples in a cycle.

    Each depth has a scan of its own; of those that may go on the deepest does. A scan begins in the cycle after another
    one of its depth has shown its last row, so a queue of combinations keeps all lanes busy in every cycle: a scan of n
    tuples takes ⌈n / lanes⌉ cycles, wherever in a row its view begins, for each lane has its own address. What needs no
    comparing (ends, and combinations that see an empty window) takes its place among the scans of its depth without
    taking a cycle away from any.

    Parameters
    ----------
    combination
        Layouts.
    places
        Those of the window.
    depths
        How many of them are compared here; the last one closes the ring.
    after, before
        Whether there is a stream before this one, and one after it: see :meth:`Combination.matches`.

    Members
    -------
    passes, arrival
        An arrival passes; its ``ahead`` is 0 if it is to be stored here.
    free
        Where it is stored.
    i
        Combinations to be compared, for each depth; ``number``, ``some`` and what is compared of them. ``ready`` comes
        from a register, a cycle after ``valid`` was seen, which is to stay.
    o
        What was found, for each depth: in the order of the combinations, and at least once for each, where it ends.
    pause
        For each depth: no further rows, please; ``RESERVE`` may still come.
    """

    #: From the cycle in which a row is chosen to the one in which it is given out.
    LATENCY = LaneBank.LATENCY + 1
    #: Rows that may come after ``pause`` went up.
    RESERVE = LATENCY

    def __init__(self, combination: Combination, places: WindowPlaces, depths: int, *, after: bool, before: bool):
        self._combination = combination
        self._places = places
        self._after = after
        self._before = before
        super().__init__(core_ports(combination, places, depths))

    def elaborate(self, platform):
        m = Module()
        places, depths = self._places, len(self.i)
        order = keep_order(m, self, places)
        wants, takes, shows, ends = (Signal(depths, name=name) for name in ("wants", "takes", "shows", "ends"))
        upcoming = look_up(m, self.i, order, takes)
        walks = [Walk(places) for _ in self.i]
        probes = [Signal(self._combination.probe, name=f"probe{n}", reset_less=True) for n in range(depths)]
        m.d.comb += shows.eq(highest_set(wants))
        for n, (walk, next_) in enumerate(zip(walks, upcoming, strict=True)):
            m.submodules[f"walk{n}"] = walk
            m.d.comb += [
                wants[n].eq(walk.walking & ~self.pause[n]),
                # What is empty takes the place of a row: not in the cycle of the last row before it.
                ends[n].eq(next_.known & next_.empty & ~walk.walking & ~self.pause[n]),
                walk.begin.eq(next_.known & ~next_.empty & (~walk.walking | (shows[n] & walk.row.last))),
                takes[n].eq(ends[n] | walk.begin),
                walk.view.eq(next_.view),
                walk.step.eq(shows[n]),
            ]
            with m.If(takes[n]):
                m.d.sync += probes[n].eq(next_.probe)
        self._compare(m, order, [walk.row for walk in walks], probes, shows, ends)
        return m

    def _compare(self, m, order, rows, probes, shows, ends):
        """From the row that is chosen to what is found in it, register by register."""
        places, layout = self._places, self._combination.layout
        m.submodules.bank = bank = LaneBank(layout.compared, places)
        m.d.comb += [
            bank.store.eq(order.passes & order.own),
            bank.place.eq(order.free),
            bank.item.eq(layout.part(layout.compared, self.arrival.tuple)),
            bank.show.eq(shows.any()),
        ]
        # What goes along: where the row is, the depth, and ends of other depths, both one-hot.
        shown = data.StructLayout(
            {"row": row_layout(places), "depth": len(rows), "ends": len(rows), "probe": self._combination.probe}
        )
        along = [Signal(shown, name=f"along{n}") for n in range(self.LATENCY + 1)]
        m.d.comb += [
            along[0].depth.eq(shows),
            along[0].ends.eq(ends),
            along[0].row.eq(one_hot_mux(shows, rows)),
            along[0].probe.eq(one_hot_mux(shows, probes)),
            bank.row.eq(along[0].row),
        ]
        m.d.sync += [later.eq(now) for now, later in pairwise(along)]

        comparing, given = along[bank.LATENCY], along[-1]
        found = Signal(places.lanes)
        between = {"after": self._after, "before": self._before, "closes": comparing.depth[-1]}
        matches = [self._combination.matches(comparing.probe, resting, **between) for resting in bank.resting]
        m.d.sync += found.eq(Cat(matches) & bank.counts)
        for n, port in enumerate(self.o):
            m.d.comb += [
                port.valid.eq(given.ends[n] | (given.depth[n] & (found.any() | given.row.last))),
                port.match.row.eq(given.row.row),
                port.match.next_row.eq(given.row.next_row),
                port.match.lane.eq(given.row.lane),
                port.match.found.eq(Mux(given.ends[n], 0, found)),
                port.match.last.eq(given.ends[n] | given.row.last),
            ]


def keep_order(m, core, places: WindowPlaces) -> OrderControl:
    """The order control of a join core that hears of arrivals."""
    m.submodules.order = order = OrderControl(places, len(core.arrival.number))
    m.d.comb += [
        order.passes.eq(core.passes),
        order.own.eq(core.arrival.ahead == 0),
        order.number.eq(core.arrival.number),
        core.free.eq(order.free),
    ]
    return order


@dataclass(frozen=True)
class Upcoming:
    """The combination of one depth that is compared next, in registers.

    Attributes
    ----------
    asked, found
        In this cycle its view is asked for; and is there.
    known
        All below is.
    empty
        There is nothing to compare: this is but an end, or its arrival sees an empty window.
    view, probe
        What its arrival sees, and what is compared of it.
    """

    asked: Value
    found: Value
    known: Value
    empty: Signal
    view: data.View
    probe: data.View


def look_up(m, ports, order: OrderControl, takes) -> list[Upcoming]:
    """Take combinations of all depths from ``ports``, one of each at a time, and look up what their arrivals see.

    One in a cycle is asked for, the deepest first, and known in the second cycle after. ``takes``: it is needed no
    longer.
    """
    depths = len(ports)
    known, asking, chosen = Signal(depths), Signal(depths), Signal(depths)
    m.d.comb += [
        chosen.eq(highest_set(Cat(port.valid for port in ports) & ~known & ~asking)),
        order.asked.eq(one_hot_mux(chosen, [port.p.number for port in ports])),
    ]
    m.d.sync += [asking.eq(chosen), known.eq((known | asking) & ~takes)]
    upcoming = []
    for n, port in enumerate(ports):
        empty = Signal(name=f"empty{n}", reset_less=True)
        view = Signal.like(order.view, name=f"view{n}", reset_less=True)
        probe = Signal.like(port.p.probe, name=f"next_probe{n}", reset_less=True)
        m.d.comb += port.ready.eq(asking[n])
        with m.If(asking[n]):
            m.d.sync += [view.eq(order.view), empty.eq(order.empty | ~port.p.some), probe.eq(port.p.probe)]
        upcoming.append(Upcoming(chosen[n], asking[n], known[n], empty, view, probe))
    return upcoming
