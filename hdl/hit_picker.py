"""Tuples that scans have found, one after the other."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.part import Part
from streamjoin.hdl.places import Places


def hit_layout(places: Places) -> data.StructLayout:
    """What a scan found in one row.

    ``row`` and ``lane`` are where the row's worth of tuples begins, and ``next_row`` where it goes on; ``found``: which
    lanes go with the combination; ``last``: this was the last row of its scan.
    """
    where = places.place.members
    return data.StructLayout({**where, "next_row": where["row"], "found": places.lanes, "last": 1})


class HitPicker(Part):
    """Picks one tuple in a cycle, of several lines of scans the last that has one and has room for what comes of it.

    The last tuple of an arrival says so; where there is none to say it, the end is picked alone.

    Parameters
    ----------
    places
        Those of the tuples, or of those with the most rows.
    lines
        How many there are.

    Members
    -------
    hits
        What was found, for each line, in order.
    known, says_last
        For each line, of what its hits are found for: it is there; nothing follows it of its arrival.
    release
        For each line: this is done with.
    room
        For each line: something may be picked.
    picked, some, last
        The line of which something is picked in this cycle, in unary; there is a tuple; it is the arrival's last.
    place
        Where the tuple is, in the next cycle.
    """

    def __init__(self, places: Places, lines: int):
        self._places = places
        super().__init__(
            {
                "hits": In(stream.Signature(hit_layout(places))).array(lines),
                "known": In(lines),
                "says_last": In(lines),
                "release": Out(lines),
                "room": In(lines),
                "picked": Out(lines),
                "some": Out(1),
                "last": Out(1),
                "place": Out(places.place),
            }
        )

    def elaborate(self, platform):
        m = Module()
        places, lines = self._places, len(self.hits)
        wants = Signal(lines)
        hit = Signal(hit_layout(places), reset_less=True)
        m.d.comb += self.picked.eq(deepest(wants))
        for n, hits in enumerate(self.hits):
            here = Signal(name=f"here{n}")
            entry = Signal(hit_layout(places), name=f"entry{n}", reset_less=True)
            rest = entry.found & (entry.found - 1)[: places.lanes]
            some = entry.found.any()
            ends = entry.last & self.says_last[n]
            silent, done = Signal(name=f"silent{n}"), Signal(name=f"done{n}")
            m.d.comb += [
                wants[n].eq(here & self.known[n] & self.room[n] & (some | ends)),
                silent.eq(here & self.known[n] & ~some & ~ends),
                done.eq(silent | (self.picked[n] & (rest == 0))),
                hits.ready.eq(~here | done),
                self.release[n].eq(done & entry.last),
            ]
            with m.If(hits.ready):
                m.d.sync += [here.eq(hits.valid), entry.eq(hits.p)]
            with m.Elif(self.picked[n]):
                m.d.sync += entry.found.eq(rest)
            with m.If(self.picked[n]):
                m.d.comb += [self.some.eq(some), self.last.eq(ends & (rest == 0))]
                m.d.sync += [hit.eq(entry), hit.found.eq(entry.found ^ rest)]
        lane = Cat(
            Cat(hit.found[lane] for lane in range(places.lanes) if lane >> bit & 1).any()
            for bit in range(places.place["lane"].width)
        )
        m.d.comb += [
            self.place.lane.eq(lane),
            self.place.row.eq(Mux(lane < hit.lane, hit.next_row, hit.row)),
        ]
        return m


def deepest(bits):
    """Of the bits that are up, the last one alone."""
    return Cat(bit & ~bits[n + 1 :].any() if n + 1 < len(bits) else bit for n, bit in enumerate(bits))
