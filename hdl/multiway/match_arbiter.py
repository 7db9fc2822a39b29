"""The arbiter of matches: picks the tuples that scans have found, one in a cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.one_hot import highest_set, one_hot_encode, one_hot_mux
from streamjoin.hdl.multiway.window_places import WindowPlaces


def match_layout(places: WindowPlaces) -> data.StructLayout:
    """What a scan found in one row.

    ``row`` and ``lane`` are where the row's worth of tuples begins, and ``next_row`` where it goes on; ``found``: which
    lanes go with the combination; ``last``: this was the last row of its scan.
    """
    where = places.place.members
    return data.StructLayout({**where, "next_row": where["row"], "found": places.lanes, "last": 1})


class MatchArbiter(Part):
    """Picks one tuple in a cycle: of several queues of matches the last that has one and has room for what comes of it.

    The last tuple of an arrival says so; where there is none to say it, the end is picked alone.

    Parameters
    ----------
    places
        Those of the tuples, or of those with the most rows.
    queues
        How many there are.

    Members
    -------
    matches
        What was found, for each queue, in order.
    known, says_last
        For each queue, of what its matches are found for: it is there; nothing follows it of its arrival.
    room
        For each queue: something may be picked in this cycle.
    picked, some, last, place
        In the cycle after that: the queue of which something was picked, one-hot; there is a tuple; it is the
        arrival's last; where it is.
    release
        For each queue: what its matches are found for is done with. In this cycle it is still needed if one was picked.
    """

    def __init__(self, places: WindowPlaces, queues: int):
        self._places = places
        super().__init__(
            {
                "matches": In(stream.Signature(match_layout(places))).array(queues),
                "known": In(queues),
                "says_last": In(queues),
                "release": Out(queues),
                "room": In(queues),
                "picked": Out(queues),
                "some": Out(1),
                "last": Out(1),
                "place": Out(places.place),
            }
        )

    def elaborate(self, platform):
        m = Module()
        places, queues = self._places, len(self.matches)
        wants, picks, release = Signal(queues), Signal(queues), Signal(queues)
        match = Signal(match_layout(places), reset_less=True)
        m.d.comb += picks.eq(highest_set(wants))
        # What hangs on a choice are wide multiplexers and queues' exits: they begin at registers.
        m.d.sync += [self.picked.eq(picks), self.release.eq(release)]
        candidates = []
        for n, matches in enumerate(self.matches):
            here = Signal(name=f"here{n}")
            entry = Signal(match_layout(places), name=f"entry{n}", reset_less=True)
            # One tuple at least is found, and no more than one.
            some, single = Signal(name=f"some{n}", reset_less=True), Signal(name=f"single{n}", reset_less=True)
            rest = _without_lowest(entry.found)
            known = self.known[n] & ~self.release[n]
            ends = entry.last & self.says_last[n]
            silent, done = Signal(name=f"silent{n}"), Signal(name=f"done{n}")
            m.d.comb += [
                wants[n].eq(here & known & self.room[n] & (some | ends)),
                silent.eq(here & known & ~some & ~ends),
                done.eq(silent | (picks[n] & single)),
                matches.ready.eq(~here | done),
                release[n].eq(done & entry.last),
            ]
            with m.If(matches.ready):
                m.d.sync += [here.eq(matches.valid), entry.eq(matches.p), *_count(matches.p.found, some, single)]
            with m.Elif(picks[n]):
                m.d.sync += [entry.found.eq(rest), *_count(rest, some, single)]
            candidates.append(Cat(some, ends & single, entry.found ^ rest, entry.lane, entry.row, entry.next_row))
        with m.If(picks.any()):
            picked = Cat(self.some, self.last, match.found, match.lane, match.row, match.next_row)
            m.d.sync += picked.eq(one_hot_mux(picks, candidates))
        lane = one_hot_encode(match.found)
        m.d.comb += [
            self.place.lane.eq(lane),
            self.place.row.eq(Mux(lane < match.lane, match.next_row, match.row)),
        ]
        return m


def _without_lowest(found):
    """All bits that are up but the lowest."""
    return found & (found - 1)[: len(found)]


def _count(found, some, single):
    """Whether there is any, and whether there are not two."""
    return [some.eq(found.any()), single.eq(~_without_lowest(found).any())]
