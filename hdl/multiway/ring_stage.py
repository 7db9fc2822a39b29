"""One stage of a circular multi-way join: the window of one stream, and all that is compared with it."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.multiway.combination import Combination
from streamjoin.hdl.multiway.emitter import Emitter
from streamjoin.hdl.multiway.match_arbiter import match_layout
from streamjoin.hdl.multiway.stage_lookup import StageLookup
from streamjoin.hdl.multiway.stage_scan import StageScan
from streamjoin.hdl.multiway.window_places import WindowPlaces


def link(combination: Combination) -> wiring.Signature:
    """From a stage to the next one: a combination, its depth, one-hot, and for which depths there is no more room."""
    depths = combination.streams - 1
    return wiring.Signature(
        {"depth": Out(depths), "message": Out(combination.message(depths)), "full": In(depths)},
    )


def stage_ports(combination: Combination) -> dict:
    """The ports of every stage, see :class:`RingStage`."""
    return {
        "passes": In(1),
        "arrival": In(combination.arrival),
        "passes_on": Out(1),
        "arrival_on": Out(combination.arrival),
        "to_next": Out(link(combination)),
        "o_result": Out(stream.Signature(combination.message(combination.streams))),
        "complete": Out(1),
        "busy": Out(1),
    }


class RingStage(Part):
    """Stores the tuples of its stream, and finds those that go with combinations of the streams before it.

    The stage hears of all arrivals (:class:`OrderControl`). Those of the stream before it are combinations of depth 1
    and wait here; deeper ones come through the link. Each depth has a queue, a scan, a queue of what was found, and
    room at the next stage of its own. What they share, comparators and emitter, takes up only what there is room for:
    no depth ever waits for room for another. See :mod:`streamjoin.reference.models.circular` for why nothing gets
    stuck.

    Parameters
    ----------
    combination, places, after, before
        As in :class:`StageScan`.
    shortest
        The least depth of combinations that come here: 1, unless arrivals of the stream before go another way.
    buckets
        If the join core is a hash join (:class:`StageLookup`): its buckets.
    buffer
        Combinations that may wait, for each depth, besides those under way.
    queue
        Results that may wait, besides those under way.
    discard
        If any: combinations that wait, of one depth, from which on further ones are thrown away. Their arrivals' ends
        are not, so arrivals are complete all the same; their results are not.

    Members
    -------
    passes, arrival
        An arrival passes.
    passes_on, arrival_on
        The same for the next stage, in the next cycle.
    from_previous, to_next
        Links of the ring.
    o_result
        Combinations of all streams, the one that follows this stage's first.
    complete
        An arrival of that stream is complete: all its results are in the queue or have left it.
    busy
        Results wait.
    lost, lost_on
        With ``discard``: what the stages before have thrown away, and that together with what this one has.
    """

    #: Messages whose matches are awaited, for each depth: one that is scanned, others whose matches are on their way.
    _PROBES = 4
    #: Rows with matches that may wait, for each depth, besides those under way.
    _MATCHES = 4
    #: Combinations that come after a queue has said that it is full, which is heard a cycle later.
    _RESERVE = Emitter.RESERVE + 1

    def __init__(
        self,
        combination: Combination,
        places: WindowPlaces,
        *,
        shortest: int = 1,
        after: bool,
        before: bool,
        buckets: int | None = None,
        buffer: int,
        queue: int,
        discard: int | None = None,
    ):
        self._combination = combination
        self._places = places
        self._depths = range(shortest, combination.streams)
        if buckets is None:
            self._core = lambda: StageScan(combination, places, len(self._depths), after=after, before=before)
        else:
            self._core = lambda: StageLookup(combination, places, len(self._depths), buckets=buckets)
        self._buffer = buffer
        self._queue = queue
        self._discard = discard
        super().__init__(
            {
                **stage_ports(combination),
                "from_previous": In(link(combination)),
                **({} if discard is None else {"lost": In(32), "lost_on": Out(32)}),
            }
        )

    def elaborate(self, platform):
        m = Module()
        combination, streams = self._combination, self._combination.streams
        ahead = self.arrival.ahead
        m.d.sync += [
            self.passes_on.eq(self.passes),
            self.arrival_on.eq(self.arrival),
            self.arrival_on.ahead.eq(Mux(ahead == 0, streams - 1, ahead - 1)),
        ]
        m.submodules.core = core = self._core()
        m.submodules.emitter = emitter = Emitter(combination, self._places, self._depths)
        m.d.comb += [
            core.passes.eq(self.passes),
            core.arrival.eq(self.arrival),
            emitter.store.eq(self.passes & (ahead == 0)),
            emitter.place.eq(core.free),
            emitter.part.eq(combination.layout.part(combination.part, self.arrival.tuple)),
        ]
        self._thrown = []
        for n, depth in enumerate(self._depths):
            self._pass_depth(m, n, depth, core, emitter)
        self._give(m, emitter)
        if self._discard is not None:
            own = Signal(32)
            m.d.sync += [own.eq(own + Cat(self._thrown).any()), self.lost_on.eq(self.lost + own)]
        return m

    def _pass_depth(self, m, n, depth, core, emitter):
        """The way of combinations of one depth: they wait, are compared, and wait for what is found."""
        layout = self._combination.message(depth)
        if depth == 1:
            # There is room for all that may be under way.
            waiting = FIFO(layout, self._combination.flight)
            is_of_previous = self.arrival.ahead == self._combination.streams - 1
            m.d.comb += [
                waiting.i.p.eq(self._combination.first(self.arrival.tuple, self.arrival.number)),
                waiting.i.valid.eq(self.passes & is_of_previous),
            ]
        else:
            waiting = FIFO(layout, self._buffer + self._RESERVE, margin=self._RESERVE)
            source = self.from_previous
            m.d.comb += [
                *(waiting.i.p[name].eq(source.message[name]) for name in layout.members if name != "parts"),
                *(waiting.i.p.parts[k].eq(source.message.parts[k]) for k in range(depth)),
                waiting.i.valid.eq(source.depth[depth - 1]),
                source.full[depth - 1].eq(waiting.almost_full),
            ]
            if self._discard is not None:
                self._throw_away(m, waiting, source.depth[depth - 1], self._discard)
        probes = FIFO(layout, self._PROBES)
        matches = FIFO(match_layout(self._places), self._MATCHES + core.RESERVE, margin=core.RESERVE)
        m.submodules[f"waiting{depth}"], m.submodules[f"probes{depth}"] = waiting, probes
        m.submodules[f"matches{depth}"] = matches
        both = waiting.o.valid & probes.i.ready
        port = core.i[n]
        m.d.comb += [
            port.p.number.eq(waiting.o.p.number),
            port.p.some.eq(waiting.o.p.some),
            port.p.probe.eq(self._combination.probe_of(waiting.o.p)),
            port.valid.eq(both),
            waiting.o.ready.eq(port.ready),
            probes.i.p.eq(waiting.o.p),
            probes.i.valid.eq(port.ready),
            matches.i.p.eq(core.o[n].match),
            matches.i.valid.eq(core.o[n].valid),
            core.pause[n].eq(matches.almost_full),
        ]
        connect(m, matches.o, emitter.matches[n])
        connect(m, probes.o, getattr(emitter, f"message{depth}"))

    def _throw_away(self, m, waiting, comes, most: int):
        """What comes while the ``most`` that may are waiting, but for its end."""
        count = Signal(range(waiting.depth + 2))
        crowded, thrown = Signal(), Signal()
        enters, leaves = waiting.i.valid & waiting.i.ready, waiting.o.valid & waiting.o.ready
        message = self.from_previous.message
        m.d.sync += count.eq(count + enters - leaves)
        m.d.comb += [
            crowded.eq(count >= most),
            thrown.eq(comes & crowded & message.some),
            waiting.i.p.some.eq(message.some & ~crowded),
            waiting.i.valid.eq(comes & (~thrown | message.last)),
        ]
        self._thrown.append(thrown)

    def _give(self, m, emitter):
        """Combinations to the next stage, and those of all streams out."""
        combination = self._combination
        following = self.to_next
        m.submodules.results = results = FIFO(
            combination.message(combination.streams), self._queue + self._RESERVE, margin=self._RESERVE
        )
        carried = [name for name in combination.message(1).members if name != "parts"]
        m.d.comb += [
            # What has grown here is one deeper there.
            *(following.depth[depth].eq(grown) for depth, grown in zip(self._depths[:-1], emitter.depth, strict=False)),
            *(following.message[name].eq(emitter.o[name]) for name in carried),
            *(following.message.parts[k].eq(emitter.o.parts[k]) for k in range(combination.streams - 1)),
            results.i.p.eq(emitter.o),
            results.i.valid.eq(emitter.depth[-1] & emitter.o.some),
            self.busy.eq(results.busy),
        ]
        m.d.sync += [
            emitter.room.eq(~Cat(*(following.full[depth] for depth in self._depths[:-1]), results.almost_full)),
            self.complete.eq(emitter.depth[-1] & emitter.o.last),
        ]
        connect(m, results.o, flipped(self.o_result))
