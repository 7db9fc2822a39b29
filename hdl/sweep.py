"""The nested-loop join core of a stage: the window of one stream, and a scan of it for each depth of combination."""

from itertools import pairwise

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, memory, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.combination import Combination
from streamjoin.hdl.order_control import OrderControl
from streamjoin.hdl.part import Part
from streamjoin.hdl.places import Places
from streamjoin.hdl.ram import NEVER_COLLIDES


def hit_layout(places: Places) -> data.StructLayout:
    """What a scan found in one row.

    ``row`` and ``lane`` are where the row's worth of tuples begins, ``found`` which lanes go with the combination;
    ``last``: this was the last row of its scan.
    """
    return data.StructLayout({**places.place.members, "found": places.lanes, "last": 1})


class Sweep(Part):
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
    after, before
        Whether there is a stream before this one, and one after it: see :meth:`Combination.matches`.

    Members
    -------
    passes, arrival
        An arrival passes; its ``ahead`` is 0 if it is to be stored here.
    free
        Where it is stored.
    i
        Combinations to be compared, for each depth; ``number``, ``some`` and what is compared of them.
    o
        What was found, for each depth: in the order of the combinations, and at least once for each, where it ends.
    pause
        For each depth: no further rows, please; ``RESERVE`` may still come.
    """

    #: From the cycle in which a row is chosen to the one in which it is given out.
    LATENCY = 4
    #: Rows that may come after ``pause`` went up.
    RESERVE = LATENCY

    def __init__(self, combination: Combination, places: Places, *, after: bool, before: bool):
        self._combination = combination
        self._places = places
        self._after = after
        self._before = before
        self.probe = data.StructLayout({"number": combination.number, "some": 1, "probe": combination.probe})
        depths = combination.streams - 1
        super().__init__(
            {
                "passes": In(1),
                "arrival": In(combination.arrival),
                "free": Out(places.place),
                "i": In(stream.Signature(self.probe)).array(depths),
                "o": Out(data.StructLayout({"valid": 1, "hit": hit_layout(places)})).array(depths),
                "pause": In(depths),
            }
        )

    def elaborate(self, platform):
        m = Module()
        places, depths = self._places, len(self.i)
        own = self.arrival.ahead == 0
        m.submodules.order = order = OrderControl(places, self._combination.number)
        m.d.comb += [
            order.passes.eq(self.passes),
            order.own.eq(own),
            order.number.eq(self.arrival.number),
            self.free.eq(order.free),
        ]

        # The row that each scan shows next, how many come after it, and whether there is one.
        wants, takes, shows, ends = (Signal(depths, name=name) for name in ("wants", "takes", "shows", "ends"))
        views = self._look_up(m, order, takes)
        row = data.StructLayout({**places.place.members, "rest": range(places.lanes), "last": 1})
        rows = [Signal(row, name=f"row{n}", reset_less=True) for n in range(depths)]
        probes = [Signal(self._combination.probe, name=f"probe{n}", reset_less=True) for n in range(depths)]
        m.d.comb += shows.eq(deepest(wants))
        for n, (port, (known, view)) in enumerate(zip(self.i, views, strict=True)):
            scanning = Signal(name=f"scanning{n}")
            left = Signal(range(places.window + 1), name=f"left{n}", reset_less=True)
            over = ~scanning | (shows[n] & rows[n].last)
            empty = ~port.p.some | ((view.whole == 0) & (view.rest == 0))
            m.d.comb += [
                wants[n].eq(scanning & ~self.pause[n]),
                # What is empty takes the place of a row: not in the cycle of the last row before it.
                ends[n].eq(known & port.valid & empty & ~scanning & ~self.pause[n]),
                takes[n].eq(Mux(empty, ends[n], known & port.valid & over)),
                port.ready.eq(takes[n]),
            ]
            with m.If(shows[n]):
                m.d.sync += [
                    rows[n].row.eq(places.row_after(rows[n].row)),
                    rows[n].last.eq(left == 1),
                    left.eq(left - 1),
                    scanning.eq(~rows[n].last),
                ]
            with m.If(takes[n]):
                further = view.whole - (view.rest == 0)
                m.d.sync += [
                    scanning.eq(~empty),
                    rows[n].row.eq(view.first.row),
                    rows[n].lane.eq(view.first.lane),
                    rows[n].rest.eq(view.rest),
                    rows[n].last.eq(further == 0),
                    left.eq(further),
                    probes[n].eq(port.p.probe),
                ]
        self._compare(m, own, rows, probes, shows, ends)
        return m

    def _look_up(self, m, order, takes):
        """For each depth the view of the combination that comes next, and whether it is known; one a cycle."""
        depths = len(self.i)
        known, asking = Signal(depths), Signal(depths)
        chosen = Signal(depths)
        m.d.comb += chosen.eq(deepest(Cat(port.valid for port in self.i) & ~known & ~asking))
        m.d.sync += [asking.eq(chosen), known.eq((known | asking) & ~takes)]
        views = [Signal(self._places.view, name=f"view{n}", reset_less=True) for n in range(depths)]
        for n, port in enumerate(self.i):
            with m.If(chosen[n]):
                m.d.comb += order.asked.eq(port.p.number)
            with m.If(asking[n]):
                m.d.sync += views[n].eq(order.view)
        return list(zip(known, views, strict=True))

    def _compare(self, m, own, rows, probes, shows, ends):
        """From the row that is chosen to what is found in it, register by register."""
        places, lanes, pairing = self._places, self._places.lanes, self._combination.pairing
        # The depth, and ends of other depths, in unary.
        layout = data.StructLayout({"row": rows[0].shape(), "depth": len(rows), "ends": len(rows)})
        chosen, reading, comparing, given = (
            Signal(layout, name=name) for name in ("chosen", "reading", "comparing", "given")
        )
        next_row = Signal(places.place["row"].shape, reset_less=True)
        probe, probe_reading, probe_comparing = (
            Signal(self._combination.probe, name=name, reset_less=True)
            for name in ("probe", "probe_reading", "probe_comparing")
        )
        m.d.sync += [
            chosen.depth.eq(shows),
            chosen.ends.eq(ends),
            *(later.eq(now) for now, later in pairwise((chosen, reading, comparing, given))),
            *(later.eq(now) for now, later in pairwise((probe, probe_reading, probe_comparing))),
        ]
        for n, row in enumerate(rows):
            with m.If(shows[n]):
                m.d.sync += [chosen.row.eq(row), next_row.eq(places.row_after(row.row)), probe.eq(probes[n])]

        # All lanes count, but in the last row, if there is a rest, only those of the rest.
        counts, counts_comparing, found = (Signal(lanes, name=name) for name in ("counts", "counts_comparing", "found"))
        row = reading.row
        end = row.lane + row.rest
        of_rest = [Mux(lane >= row.lane, lane < end, lane + lanes < end) for lane in range(lanes)]
        whole = ~(row.last & (row.rest != 0))
        m.d.comb += counts.eq(Cat(Mux(whole, 1, inside) for inside in of_rest) & reading.depth.any().replicate(lanes))
        m.d.sync += counts_comparing.eq(counts)
        matches = []
        for lane in range(lanes):
            m.submodules[f"lane{lane}"] = tuples = memory.Memory(
                shape=pairing.compared, depth=places.rows, init=[], attrs=NEVER_COLLIDES
            )
            write, read = tuples.write_port(), tuples.read_port()
            resting = Signal(pairing.compared, name=f"resting{lane}", reset_less=True)
            m.d.comb += [
                write.addr.eq(self.free.row),
                write.data.eq(pairing.part(pairing.compared, self.arrival.tuple)),
                write.en.eq(self.passes & own & (self.free.lane == lane)),
                # A row's worth begins in one row and goes on in the next.
                read.addr.eq(Mux(lane < chosen.row.lane, next_row, chosen.row.row)),
            ]
            m.d.sync += resting.eq(read.data)
            closes = comparing.depth[-1]
            matches.append(
                self._combination.matches(
                    probe_comparing, resting, after=self._after, before=self._before, closes=closes
                )
            )
        m.d.sync += found.eq(Cat(matches) & counts_comparing)
        for n, port in enumerate(self.o):
            m.d.comb += [
                port.valid.eq(given.ends[n] | (given.depth[n] & (found.any() | given.row.last))),
                port.hit.row.eq(given.row.row),
                port.hit.lane.eq(given.row.lane),
                port.hit.found.eq(Mux(given.ends[n], 0, found)),
                port.hit.last.eq(given.ends[n] | given.row.last),
            ]


def deepest(bits):
    """Of the bits that are up, the last one alone."""
    return Cat(bit & ~bits[n + 1 :].any() if n + 1 < len(bits) else bit for n, bit in enumerate(bits))
