"""What was found becomes combinations one tuple longer."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import memory, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.combination import Combination
from streamjoin.hdl.part import Part
from streamjoin.hdl.places import Places
from streamjoin.hdl.ram import NEVER_COLLIDES
from streamjoin.hdl.sweep import deepest, hit_layout


class Emitter(Part):
    """Makes a combination of each tuple that was found, one in a cycle: the deepest first, of those that have room.

    What a combination needs of a tuple, and comparing does not, rests here: so it takes no cycle away from comparing.
    The last one of an arrival says so; where there is none to say it, an end goes alone.

    Parameters
    ----------
    combination
        Layouts.
    places
        Those of the window.

    Members
    -------
    store, place, part
        A tuple is to rest at this place.
    hits
        What was found, for each depth, in order.
    message1, message2, …
        What it was found for, for each depth: the first that is not done with.
    room
        For each depth: more may come; ``RESERVE`` come after it went down.
    depth, o
        The depth of what a combination was found for, in unary, 0 if there is none; and the combination.
    """

    #: Combinations that come after ``room`` went down.
    RESERVE = 3

    def __init__(self, combination: Combination, places: Places):
        self._combination = combination
        self._places = places
        depths = combination.streams - 1
        super().__init__(
            {
                "store": In(1),
                "place": In(places.place),
                "part": In(combination.part),
                "hits": In(stream.Signature(hit_layout(places))).array(depths),
                **{f"message{d}": In(stream.Signature(combination.message(d))) for d in range(1, depths + 1)},
                "room": In(depths),
                "depth": Out(depths),
                "o": Out(combination.message(combination.streams)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        places, depths = self._places, len(self.hits)
        sends, chosen = Signal(depths), Signal(depths)
        # Chosen, fetched, given: one register after the other.
        whole = self._combination.message(self._combination.streams)
        taken, fetched = (Signal(whole, name=name, reset_less=True) for name in ("taken", "fetched"))
        taken_depth, fetched_depth = Signal(depths), Signal(depths)
        hit = Signal(hit_layout(places), reset_less=True)
        m.d.comb += chosen.eq(deepest(sends))
        m.d.sync += [
            taken_depth.eq(chosen),
            fetched_depth.eq(taken_depth),
            self.depth.eq(fetched_depth),
            fetched.eq(taken),
        ]
        for n, hits in enumerate(self.hits):
            message = getattr(self, f"message{n + 1}")
            here = Signal(name=f"here{n}")
            entry = Signal(hit_layout(places), name=f"entry{n}", reset_less=True)
            rest = entry.found & (entry.found - 1)[: places.lanes]
            some = entry.found.any()
            says_last = entry.last & message.p.last
            silent, done = Signal(name=f"silent{n}"), Signal(name=f"done{n}")
            m.d.comb += [
                sends[n].eq(here & message.valid & self.room[n] & (some | says_last)),
                silent.eq(here & message.valid & ~some & ~says_last),
                done.eq(silent | (chosen[n] & (rest == 0))),
                hits.ready.eq(~here | done),
                message.ready.eq(done & entry.last),
            ]
            with m.If(hits.ready):
                m.d.sync += [here.eq(hits.valid), entry.eq(hits.p)]
            with m.Elif(chosen[n]):
                m.d.sync += entry.found.eq(rest)
            with m.If(chosen[n]):
                m.d.sync += [
                    *(
                        taken[name].eq(message.p[name])
                        for name in whole.members
                        if name not in ("parts", "some", "last")
                    ),
                    *(taken.parts[k].eq(message.p.parts[k]) for k in range(n + 1)),
                    taken.some.eq(some),
                    taken.last.eq(says_last & (rest == 0)),
                    hit.eq(entry),
                    hit.found.eq(entry.found ^ rest),
                ]

        m.submodules.parts = parts = memory.Memory(
            shape=self._combination.part,
            depth=places.rows << places.place["lane"].width,
            init=[],
            attrs=NEVER_COLLIDES,
        )
        write, read = parts.write_port(), parts.read_port()
        lane = Cat(
            Cat(hit.found[lane] for lane in range(places.lanes) if lane >> bit & 1).any()
            for bit in range(places.place["lane"].width)
        )
        row = Mux(lane < hit.lane, places.row_after(hit.row), hit.row)
        m.d.comb += [
            write.addr.eq(Cat(self.place.lane, self.place.row)),
            write.data.eq(self.part),
            write.en.eq(self.store),
            read.addr.eq(Cat(lane, row)),
        ]
        m.d.sync += self.o.eq(fetched)
        for n in range(depths):
            with m.If(fetched_depth[n]):
                m.d.sync += self.o.parts[n + 1].eq(read.data)
        return m
