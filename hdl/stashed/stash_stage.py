"""The first stage of a stashed multi-way join: the windows of S1 and S2, and the pairs that were found in them."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data
from amaranth.lib.wiring import connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.multiway.combination import Combination
from streamjoin.hdl.multiway.match_arbiter import match_layout
from streamjoin.hdl.multiway.ring_stage import stage_ports
from streamjoin.hdl.multiway.window_places import WindowPlaces
from streamjoin.hdl.stashed.pair_comparators import PairComparators
from streamjoin.hdl.stashed.pair_window import PairWindow, ends_quarter_turn
from streamjoin.hdl.stashed.stash import Stash
from streamjoin.hdl.stashed.stash_emitter import StashEmitter
from streamjoin.hdl.stashed.stash_scheduler import StashScheduler, members
from streamjoin.hdl.stashed.stash_shape import ANEW, DEEP, ONE, STASHED, TWO, StashShape


class StashStage(Part):
    """Does the work of one arrival after the other, with one lot of comparators for all scans.

    Arrivals wait in a queue and are stored when their work begins (:class:`StashScheduler`), so windows are always
    those of the arrival at work. Tuples that are pushed out of a window stay in their place while matches may still be
    fetched. An arrival of S3 waits until all pairs of those before it are in the stash. Pairs of those after it come to
    be kept behind what it has found, and so overwrite nothing that it needs. Where the stash is not complete, what the
    scan of S2 anew gives goes through a queue of its own: neither scan waits for the other for ever.

    Parameters
    ----------
    combination
        Layouts.
    windows, lanes, room, spare_bits
        As in :class:`StashShape`.
    buffer, queue
        Intermediate results and results that may wait, besides those under way.

    Members
    -------
    passes, arrival, passes_on, arrival_on, to_next, busy
        As in :class:`streamjoin.hdl.multiway.ring_stage.RingStage`; what goes on is a pair of S1 and S2.
    o_result
        Results, with the parts of S1, S2, S3.
    complete
        An arrival of S3 is complete.
    """

    #: Arrivals whose matches are awaited, and rows with matches that may wait.
    _PROBES = 4
    _MATCHES = 4
    #: Tuples that stay in their place beyond the window: for those arrivals, and those at either end of their queue.
    _SLACK = _PROBES + 4

    def __init__(
        self,
        combination: Combination,
        windows: tuple[int, int],
        *,
        lanes: int,
        room: int,
        spare_bits: int,
        buffer: int,
        queue: int,
    ):
        self._combination = combination
        self._shape = StashShape(combination, windows, lanes, room, self._SLACK, spare_bits)
        self._buffer = buffer
        self._queue = queue
        super().__init__(stage_ports(combination))

    def elaborate(self, platform):
        m = Module()
        shape, ahead = self._shape, self.arrival.ahead
        m.d.sync += [
            self.passes_on.eq(self.passes),
            self.arrival_on.eq(self.arrival),
            # Two streams rest here: two steps further.
            self.arrival_on.ahead.eq(Mux(ahead >= 2, ahead - 2, ahead + 1)),
        ]
        m.submodules.scheduler = scheduler = StashScheduler(shape, awaiting=self._PROBES)
        m.submodules.comparators = comparators = PairComparators(shape)
        m.submodules.emitter = emitter = StashEmitter(shape)
        windows = [PairWindow(shape, places) for places in shape.places]
        m.submodules.window_one, m.submodules.window_two = windows
        stash = None
        if shape.room:
            m.submodules.stash = stash = Stash(shape.compared, shape.pair, shape.stash_places)
        self._keep_windows(m, scheduler, windows)
        self._compare(m, scheduler, comparators, windows, stash)
        self._emit(m, scheduler, comparators, emitter, windows)
        kept = self._keep_pairs(m, scheduler, comparators, emitter, windows, stash) if stash else None
        self._give(m, scheduler, emitter, kept)
        return m

    def _keep_windows(self, m, scheduler, windows):
        """Arrivals wait for their turn, and enter their window."""
        combination = self._combination
        m.submodules.jobs = jobs = FIFO(scheduler.job, combination.flight)
        m.d.comb += [
            jobs.i.p.message.eq(combination.first(self.arrival.tuple, self.arrival.number)),
            jobs.i.p.stream.eq(self.arrival.ahead),
            jobs.i.valid.eq(self.passes),
            scheduler.next.one.eq(windows[0].next),
            scheduler.next.two.eq(windows[1].next),
        ]
        connect(m, jobs.o, scheduler.jobs)
        for n, window in enumerate(windows):
            m.d.comb += [
                window.store.eq(scheduler.stores[n]),
                window.message.eq(jobs.o.p.message),
                getattr(scheduler, f"view{n}").eq(window.view),
                scheduler.empty[n].eq(window.empty),
            ]

    def _compare(self, m, scheduler, comparators, windows, stash):
        """The row that is chosen is shown by whoever has it, to the comparators."""
        banks = [*windows, *([stash] if stash else [])]
        for n, bank in enumerate(banks):
            m.d.comb += [
                bank.show.eq(scheduler.source[n]),
                *(field.eq(scheduler.row[name]) for name, field in members(bank.row)),
            ]
        ports = (comparators.one, comparators.two, *([comparators.pairs] if stash else []))
        for port, bank in zip(ports, banks, strict=True):
            m.d.comb += [lane.eq(resting) for lane, resting in zip(port, bank.resting, strict=True)]
        counts = Const(0, self._shape.lanes)
        for bank in banks:
            counts = counts | bank.counts
        m.d.comb += [
            comparators.counts.eq(counts),
            *(getattr(comparators, name).eq(getattr(scheduler, name)) for name in ("shows", "ends", "row", "source")),
            comparators.probe.eq(scheduler.probe),
        ]

    def _emit(self, m, scheduler, comparators, emitter, windows):
        """What is found waits, with what it is found for, to be picked and fetched."""
        shape = self._shape
        m.submodules.probes = probes = FIFO(shape.awaiting, self._PROBES)
        m.submodules.deep_probes = deep_probes = FIFO(self._combination.message(2), self._PROBES)
        connect(m, scheduler.probes, probes.i)
        connect(m, scheduler.deep_probes, deep_probes.i)
        connect(m, probes.o, emitter.probe)
        connect(m, deep_probes.o, emitter.deep)
        margin = comparators.LATENCY
        for n, found in enumerate(comparators.o):
            m.submodules[f"matches{n}"] = matches = FIFO(
                match_layout(shape.widest), self._MATCHES + margin, margin=margin
            )
            m.d.comb += [
                matches.i.p.eq(found.match),
                matches.i.valid.eq(found.valid),
                scheduler.pause[n].eq(matches.almost_full),
            ]
            connect(m, matches.o, emitter.matches[n])
        for window, port, places in zip(windows, (emitter.one, emitter.two), shape.places, strict=True):
            m.d.comb += [window.wanted.eq(_cut(emitter.place, places)), port.eq(window.fetched)]

    def _keep_pairs(self, m, scheduler, comparators, emitter, windows, stash) -> FIFO:
        """Pairs go through a queue into the stash; what it holds is compared as it was when that began."""
        shape, combination = self._shape, self._combination
        m.submodules.pairs = pairs = FIFO(stash.i.p.shape(), 2 + emitter.RESERVE, margin=emitter.RESERVE)
        connect(m, pairs.o, stash.i)
        keys = emitter.message.key if combination.equi else emitter.message.parts[1]
        if not combination.equi:
            keys = combination.layout.part(combination.keys, keys).as_value()
        time = emitter.time if combination.span is not None else Const(0, 0)
        m.d.sync += stash.epoch.eq(Cat(ends_quarter_turn(window, shape) for window in windows).any())
        then = Signal(shape.positions, reset_less=True)
        with m.If(scheduler.begins):
            m.d.sync += then.eq(stash.first)
        m.d.comb += [
            stash.first.eq(Cat(window.first for window in windows)),
            *(stash.newest[name].eq(window.next - 1) for name, window in zip(("one", "two"), windows, strict=True)),
            stash.wanted.eq(_cut(emitter.place, shape.stash_places)),
            emitter.pair.eq(stash.fetched),
            comparators.first.eq(then),
            scheduler.view2.eq(stash.view),
            scheduler.empty[2].eq((stash.view.whole == 0) & (stash.view.rest == 0)),
            scheduler.answers.eq(stash.complete),
            pairs.i.valid.eq((emitter.comes_of[ONE] | emitter.comes_of[TWO]) & emitter.message.some),
            pairs.i.p.compared.eq(Cat(keys, time, emitter.positions)),
            pairs.i.p.parts.eq(Cat(emitter.message.parts[0], emitter.message.parts[1])),
        ]
        return pairs

    def _give(self, m, scheduler, emitter, kept):
        """Pairs to the next stage, what was found anew to the deeper scan, and results out."""
        combination, reserve, message = self._combination, emitter.RESERVE, emitter.message
        m.submodules.deep = deep = FIFO(combination.message(2), self._buffer + reserve, margin=reserve)
        m.submodules.results = results = FIFO(combination.message(3), self._queue + reserve, margin=reserve)
        connect(m, deep.o, scheduler.deep)
        connect(m, results.o, flipped(self.o_result))
        is_result = emitter.comes_of[STASHED] | emitter.comes_of[DEEP]
        m.d.comb += [
            emitter.room_pair.eq(~(self.to_next.full[1] | (kept.almost_full if kept else 0))),
            emitter.room_anew.eq(~deep.almost_full),
            emitter.room_result.eq(~results.almost_full),
            self.to_next.depth.eq(Cat(Const(0, 1), emitter.comes_of[ONE] | emitter.comes_of[TWO])),
            deep.i.valid.eq(emitter.comes_of[ANEW]),
            results.i.valid.eq(is_result & message.some),
            results.i.p.eq(message),
            self.busy.eq(results.busy),
            scheduler.done.eq(emitter.done),
            scheduler.quiet.eq(~(emitter.busy | (kept.busy if kept else 0))),
            scheduler.complete.eq(self.complete),
        ]
        m.d.sync += self.complete.eq(is_result & message.last)
        plain = [name for name in combination.message(1).members if name != "parts"]
        for port, shift in ((self.to_next.message, 0), (deep.i.p, 1)):
            m.d.comb += [port[name].eq(message[name]) for name in plain]
            m.d.comb += [port.parts[k].eq(message.parts[k + shift]) for k in range(2)]


def _cut(place, places: WindowPlaces):
    """A place of the widest rows, as one of these."""
    return data.View(places.place, Cat(place.lane, place.row[: places.place["row"].width]))
