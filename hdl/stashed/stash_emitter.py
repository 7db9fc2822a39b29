"""The emitter of a stashed join's first stage: what it has found becomes pairs, results, and what is compared again."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.multiway.match_arbiter import MatchArbiter, match_layout
from streamjoin.hdl.stashed.stash_shape import ANEW, DEEP, ONE, STASHED, TWO, StashShape


class StashEmitter(Part):
    """Picks one match in a cycle, fetches what rests there, and gives out what comes of it.

    Parameters
    ----------
    shape
        Layouts.

    Members
    -------
    matches
        What was found, for arrivals and for what the scan anew has found, in order.
    probe, deep
        What it was found for: the first that is not done with.
    room_pair, room_anew, room_result
        There is room for pairs, for what is found anew, for results; ``RESERVE`` come after it went down.
    place
        Where the tuple or pair is, as one of the widest places.
    one, two, pair
        In the next cycle: what is kept of it, if it is of S1, of S2, or of the stash.
    done
        All matches of an arrival have been picked.
    comes_of, message, positions
        What is given out: the kind of work that it comes of, one-hot, 0 if there is none; with the parts of S1, S2 and
        S3 as far as they are known; and the positions of a pair.
    time
        Where windows are time-based: the time of the older tuple of a pair.
    busy
        Something has been picked that is not given out yet, or is in this cycle.
    """

    #: Picked, fetched, given: what is picked and has not come out yet.
    RESERVE = 3

    def __init__(self, shape: StashShape):
        self._shape = shape
        message, stored = shape.combination.message, shape.stored
        self._timed = shape.combination.span is not None
        super().__init__(
            {
                "matches": In(stream.Signature(match_layout(shape.widest))).array(2),
                "probe": In(stream.Signature(shape.awaiting)),
                "deep": In(stream.Signature(message(2))),
                "room_pair": In(1),
                "room_anew": In(1),
                "room_result": In(1),
                "place": Out(shape.widest.place),
                "one": In(stored),
                "two": In(stored),
                **({"pair": In(shape.pair)} if shape.room else {}),
                "done": Out(1),
                "comes_of": Out(5),
                "message": Out(message(3)),
                "positions": Out(shape.positions),
                **({"time": Out(stored["time"].shape)} if self._timed else {}),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.arbiter = arbiter = MatchArbiter(self._shape.widest, 2)
        probe, deep = self.probe, self.deep
        of_pair = (probe.p.kind == ONE) | (probe.p.kind == TWO)
        room = Mux(of_pair, self.room_pair, Mux(probe.p.kind == ANEW, self.room_anew, self.room_result))
        for matches, port in zip(self.matches, arbiter.matches, strict=True):
            connect(m, flipped(matches), port)
        m.d.comb += [
            arbiter.known.eq(Cat(probe.valid, deep.valid)),
            arbiter.says_last.eq(Cat(probe.p.message.last, deep.p.last)),
            arbiter.room.eq(Cat(room, self.room_result)),
            Cat(probe.ready, deep.ready).eq(arbiter.release),
            self.done.eq(arbiter.release[0]),
            self.place.eq(arbiter.place),
        ]
        self._give(m, self._fetch(m, arbiter))
        return m

    def _fetch(self, m, arbiter):
        """What was picked, while what rests there is fetched."""
        combination, probe, deep = self._shape.combination, self.probe.p, self.deep.p
        layout = data.StructLayout({"kind": 5, "message": combination.message(3), "position": self._shape.position})
        fetched = Signal(layout)
        m.d.sync += [
            fetched.kind.eq(Mux(arbiter.picked[0], Const(1, 5) << probe.kind, arbiter.picked[1] << DEEP)),
            fetched.message.some.eq(arbiter.some),
            fetched.message.last.eq(arbiter.last),
            fetched.position.eq(probe.position),
        ]
        carried = [name for name in combination.message(1).members if name not in ("parts", "some", "last")]
        parts = fetched.message.parts
        with m.If(arbiter.picked[0]):
            m.d.sync += [fetched.message[name].eq(probe.message[name]) for name in carried]
            # Wherever it belongs: the others are fetched.
            m.d.sync += [part.eq(probe.message.parts[0]) for part in parts]
        with m.If(arbiter.picked[1]):
            m.d.sync += [fetched.message[name].eq(deep[name]) for name in carried]
            m.d.sync += [parts[1].eq(deep.parts[0]), parts[2].eq(deep.parts[1])]
        m.d.comb += self.busy.eq(Cat(arbiter.picked, fetched.kind, self.comes_of).any())
        return fetched

    def _give(self, m, fetched):
        """That together with what has been fetched."""
        parts, kind = self.message.parts, fetched.kind
        m.d.sync += [
            self.comes_of.eq(kind),
            self.message.eq(fetched.message),
            self.positions.one.eq(fetched.position),
            self.positions.two.eq(fetched.position),
        ]
        with m.If(kind[TWO] | kind[DEEP]):
            m.d.sync += [parts[0].eq(self.one.part), self.positions.one.eq(self.one.position)]
        with m.If(kind[ONE] | kind[ANEW]):
            m.d.sync += [parts[1].eq(self.two.part), self.positions.two.eq(self.two.position)]
        if self._shape.room:
            with m.If(kind[STASHED]):
                m.d.sync += [parts[0].eq(self.pair.one), parts[1].eq(self.pair.two)]
        if self._timed:
            # The older of the two is the one that was found.
            m.d.sync += self.time.eq(Mux(kind[ONE], self.two.time, self.one.time))
