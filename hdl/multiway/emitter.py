"""The emitter of a stage: what its scans have found becomes combinations one tuple longer."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import memory, stream
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.one_hot import one_hot_mux
from streamjoin.hdl.lib.ram import NEVER_COLLIDES
from streamjoin.hdl.multiway.combination import Combination
from streamjoin.hdl.multiway.match_arbiter import MatchArbiter, match_layout
from streamjoin.hdl.multiway.window_places import WindowPlaces


class PartStore(Part):
    """What a combination needs of tuples, beside what is compared; an address is a place.

    Members
    -------
    store, place, item
        An item is to rest at this place.
    wanted, fetched
        Where an item is; the item, in the next cycle.
    """

    def __init__(self, shape, places: WindowPlaces):
        self._shape = shape
        self._places = places
        super().__init__(
            {
                "store": In(1),
                "place": In(places.place),
                "item": In(shape),
                "wanted": In(places.place),
                "fetched": Out(shape),
            }
        )

    def elaborate(self, platform):
        m = Module()
        depth = self._places.rows << self._places.place["lane"].width
        m.submodules.items = items = memory.Memory(shape=self._shape, depth=depth, init=[], attrs=NEVER_COLLIDES)
        write, read = items.write_port(), items.read_port()
        m.d.comb += [
            write.addr.eq(Cat(self.place.lane, self.place.row)),
            write.data.eq(self.item),
            write.en.eq(self.store),
            read.addr.eq(Cat(self.wanted.lane, self.wanted.row)),
            self.fetched.eq(read.data),
        ]
        return m


class Emitter(Part):
    """Makes a combination of each tuple that was found, one in a cycle: the deepest first, of those that have room.

    What a combination needs of a tuple, and comparing does not, rests here: so it takes no cycle away from comparing.

    Parameters
    ----------
    combination
        Layouts.
    places
        Those of the window.
    depths
        Those of the combinations that tuples are found for.

    Members
    -------
    store, place, part
        A tuple is to rest at this place.
    matches
        What was found, for each depth, in order.
    message1, message2, …
        What it was found for, for each depth: the first that is not done with.
    room
        For each depth: more may come; ``RESERVE`` come after it went down.
    depth, o
        The depth of what a combination was found for, one-hot, 0 if there is none; and the combination.
    """

    #: Combinations that come after ``room`` went down.
    RESERVE = 3

    def __init__(self, combination: Combination, places: WindowPlaces, depths: range):
        self._combination = combination
        self._places = places
        self._depths = depths
        super().__init__(
            {
                "store": In(1),
                "place": In(places.place),
                "part": In(combination.part),
                "matches": In(stream.Signature(match_layout(places))).array(len(depths)),
                **{f"message{depth}": In(stream.Signature(combination.message(depth))) for depth in depths},
                "room": In(len(depths)),
                "depth": Out(len(depths)),
                "o": Out(combination.message(combination.streams)),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.arbiter = arbiter = MatchArbiter(self._places, len(self._depths))
        m.submodules.parts = parts = PartStore(self._combination.part, self._places)
        messages = [getattr(self, f"message{depth}") for depth in self._depths]
        for matches, port in zip(self.matches, arbiter.matches, strict=True):
            connect(m, flipped(matches), port)
        m.d.comb += [
            arbiter.known.eq(Cat(message.valid for message in messages)),
            arbiter.says_last.eq(Cat(message.p.last for message in messages)),
            *(message.ready.eq(release) for message, release in zip(messages, arbiter.release, strict=True)),
            arbiter.room.eq(self.room),
            parts.store.eq(self.store),
            parts.place.eq(self.place),
            parts.item.eq(self.part),
            parts.wanted.eq(arbiter.place),
        ]
        # Picked, fetched, given: one register after the other.
        whole = self._combination.message(self._combination.streams)
        fetched = Signal(whole, reset_less=True)
        fetched_depth = Signal.like(self.depth)
        m.d.sync += [
            fetched_depth.eq(arbiter.picked),
            self.depth.eq(fetched_depth),
            fetched.some.eq(arbiter.some),
            fetched.last.eq(arbiter.last),
            self.o.eq(fetched),
        ]
        carried = [name for name in whole.members if name not in ("parts", "some", "last")]
        with m.If(arbiter.picked.any()):
            for name in carried:
                m.d.sync += fetched[name].eq(one_hot_mux(arbiter.picked, [message.p[name] for message in messages]))
            for k in range(self._depths[-1]):
                having = [n for n, depth in enumerate(self._depths) if depth > k]
                selects = [arbiter.picked[n] for n in having]
                m.d.sync += fetched.parts[k].eq(one_hot_mux(selects, [messages[n].p.parts[k] for n in having]))
        for n, depth in enumerate(self._depths):
            with m.If(fetched_depth[n]):
                m.d.sync += self.o.parts[depth].eq(parts.fetched)
        return m
