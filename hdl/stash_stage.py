"""The first stage of a stashed multi-way join: the windows of S1 and S2, and the pairs that were found in them."""

from itertools import pairwise

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out, connect, flipped
from amaranth.utils import ceil_log2

from streamjoin.hdl.combination import Combination
from streamjoin.hdl.emitter import PartStore
from streamjoin.hdl.hit_picker import HitPicker, hit_layout
from streamjoin.hdl.lane_bank import LaneBank, Walk
from streamjoin.hdl.order_control import WindowView
from streamjoin.hdl.part import Part
from streamjoin.hdl.places import Places
from streamjoin.hdl.queue import Queue
from streamjoin.hdl.ring_stage import link
from streamjoin.hdl.stash import Stash

#: What is done for an arrival: one of S1 scans S2, one of S2 scans S1, one of S3 the stash, or S2 anew, which leads to
#: scans of S1 for what was found.
ONE, TWO, STASHED, ANEW, DEEP = range(5)


class StashStage(Part):
    """Does the work of one arrival after the other, with one lot of comparators for all scans.

    Arrivals wait in a queue and are stored when their work begins, so windows are always those of the arrival at work.
    Work on S1 and S2 follows without a gap: tuples that are pushed out of a window stay in their place while hits may
    still be fetched. An arrival of S3 waits until all pairs of those before it are in the stash. Pairs of those after
    it come to be kept behind what it has found, and so overwrite nothing that it needs. Where the stash is not
    complete, it scans S2 and, through a queue of what that gives, S1: the deeper scan first, so that neither waits for
    the other for ever; and those after it wait until it is complete.

    Parameters
    ----------
    combination
        Layouts.
    windows
        Tuples in the windows of S1 and S2.
    lanes
        Tuples, or pairs of the stash, that are compared in a cycle.
    room
        Pairs that the stash holds; with 0 there is none.
    spare_bits
        Bits of a position beyond those that windows need: the stash is emptied when these have gone half round.
    buffer, queue
        Intermediate results and results that may wait, besides those under way.

    Members
    -------
    passes, arrival, passes_on, arrival_on, to_next, busy
        As in :class:`streamjoin.hdl.ring_stage.RingStage`; what goes on is a pair of S1 and S2.
    o_result
        Results, with the parts of S1, S2, S3.
    complete
        An arrival of S3 is complete.
    """

    #: From the cycle in which a row is chosen to the one in which hits are given out; rows that come after a pause.
    _LATENCY = LaneBank.LATENCY + 1
    #: Picked, fetched, given: what is picked and has not come out yet.
    _RESERVE = 3
    #: Arrivals whose hits are awaited, and rows with hits that may wait.
    _PROBES = 4
    _HITS = 4
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
        self._buffer = buffer
        self._queue = queue
        self._places = [Places(window, self._SLACK, lanes) for window in windows]
        self._stash_places = Places(room, 0, lanes) if room else None
        self._widest = max([*self._places, *([self._stash_places] if room else [])], key=lambda places: places.rows)
        # A quarter turn, after which the stash is emptied, is longer than a window and its slack.
        self._position = ceil_log2(max(windows) + 2 * self._SLACK) + 1 + spare_bits
        timed = {"time": combination.pairing.tuple["time"].width} if combination.pairing.span is not None else {}
        self._stored = data.StructLayout({"part": combination.part, "position": self._position, **timed})
        self._compared = data.StructLayout(
            {"keys": combination.keys, **timed, "one": self._position, "two": self._position}
        )
        self._pair = data.StructLayout({"one": combination.part, "two": combination.part})
        super().__init__(
            {
                "passes": In(1),
                "arrival": In(combination.arrival),
                "passes_on": Out(1),
                "arrival_on": Out(combination.arrival),
                "to_next": Out(link(combination)),
                "o_result": Out(stream.Signature(combination.message(combination.streams))),
                "complete": Out(1),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        combination = self._combination
        m.d.sync += [
            self.passes_on.eq(self.passes),
            self.arrival_on.eq(self.arrival),
            # Two streams rest here: two steps further.
            self.arrival_on.ahead.eq(Mux(self.arrival.ahead >= 2, self.arrival.ahead - 2, self.arrival.ahead + 1)),
        ]
        job = data.StructLayout({"message": combination.message(1), "stream": range(3)})
        m.submodules.jobs = self._jobs = jobs = Queue(job, combination.flight)
        m.d.comb += [
            jobs.i.p.message.eq(combination.first(self.arrival.tuple, self.arrival.number)),
            jobs.i.p.stream.eq(self.arrival.ahead),
            jobs.i.valid.eq(self.passes),
        ]
        # Parts of S2 and S3, for a scan of S1.
        m.submodules.deep = self._deep = Queue(
            combination.message(2), self._buffer + self._RESERVE, margin=self._RESERVE
        )
        probe = data.StructLayout({"message": combination.message(1), "kind": range(DEEP), "position": self._position})
        m.submodules.probes = self._probes = Queue(probe, self._PROBES)
        m.submodules.deep_probes = self._deep_probes = Queue(combination.message(2), self._PROBES)
        m.submodules.results = self._results = Queue(
            combination.message(3), self._queue + self._RESERVE, margin=self._RESERVE
        )
        m.submodules.picker = self._picker = HitPicker(self._widest, 2)
        self._hits = [
            Queue(hit_layout(self._widest), self._HITS + self._LATENCY, margin=self._LATENCY) for _ in range(2)
        ]
        for n, hits in enumerate(self._hits):
            m.submodules[f"hits{n}"] = hits
            connect(m, hits.o, self._picker.hits[n])
        self._make_windows(m)
        self._make_stash(m)
        self._begin(m)
        self._compare(m)
        self._emit(m)
        return m

    def _make_windows(self, m):
        """Windows, banks and stores of S1 and S2; positions of their first and next tuples; ``stores`` one."""
        self._stores = Signal(2)
        ages = data.StructLayout({"one": self._position, "two": self._position})
        self._first, self._next = Signal(ages), Signal(ages)
        self._first_then = Signal(ages, reset_less=True)  # when the stash was asked
        self._windows, self._banks, self._parts = [], [], []
        tuple_ = self._jobs.o.p.message
        pairing = self._combination.pairing
        for n, (name, places) in enumerate(zip(("one", "two"), self._places, strict=True)):
            m.submodules[f"window_{name}"] = window = WindowView(places)
            m.submodules[f"bank_{name}"] = bank = LaneBank(pairing.compared, places)
            m.submodules[f"parts_{name}"] = parts = PartStore(self._stored, places)
            m.d.comb += [window.store.eq(self._stores[n])]
            for store in (bank, parts):
                m.d.comb += [store.store.eq(self._stores[n]), store.place.eq(window.free)]
            keys = self._keys_of(tuple_)
            m.d.comb += [
                bank.item.eq(Cat(keys, tuple_.time if pairing.span is not None else Const(0, 0))),
                parts.item.part.eq(tuple_.parts[0]),
                parts.item.position.eq(self._next[name]),
                parts.wanted.eq(self._cut(self._picker.place, places)),
            ]
            if pairing.span is not None:
                m.d.comb += parts.item.time.eq(tuple_.time)
            with m.If(self._stores[n]):
                m.d.sync += self._next[name].eq(self._next[name] + 1)
                with m.If(window.full):
                    m.d.sync += self._first[name].eq(self._first[name] + 1)
            self._windows.append(window)
            self._banks.append(bank)
            self._parts.append(parts)

    def _make_stash(self, m):
        """The stash, if there is one, and a queue of pairs that are to be kept."""
        self._stash = None
        if self._stash_places is None:
            return
        m.submodules.stash = self._stash = stash = Stash(self._compared, self._pair, self._stash_places)
        m.submodules.pairs = self._pairs = Queue(stash.i.p.shape(), 2 + self._RESERVE, margin=self._RESERVE)
        connect(m, self._pairs.o, stash.i)
        quarter = self._position - 2
        turns = [self._stores[n] & self._next[name][:quarter].all() for n, name in enumerate(("one", "two"))]
        m.d.sync += stash.epoch.eq(Cat(turns).any())
        m.d.comb += [
            stash.first.eq(self._first),
            stash.newest.one.eq(self._next.one - 1),
            stash.newest.two.eq(self._next.two - 1),
            stash.wanted.eq(self._cut(self._picker.place, self._stash_places)),
        ]

    def _begin(self, m):
        """The work of the arrival that is next, and of what the scan of S2 anew has given."""
        job, tuple_ = self._jobs.o.p, self._jobs.o.p.message
        one, two = self._windows
        is_three = job.stream == 2
        answers = self._stash.complete if self._stash else 0
        self._kind = kind = Signal(range(DEEP))
        m.d.comb += kind.eq(Mux(is_three, Mux(answers, STASHED, ANEW), job.stream))
        takes, ends, shows = Signal(2), Signal(2), Signal(2)
        self._ends, self._shows = ends, shows

        # Scans by kind; ONE and ANEW share theirs.
        scans = {ONE: (Walk(self._places[1]), two.view), TWO: (Walk(self._places[0]), one.view)}
        if self._stash:
            scans[STASHED] = (Walk(self._stash_places), self._stash.view)
        deep = Walk(self._places[0])
        m.submodules.walk_deep = deep
        self._walks = {name: walk for name, (walk, _) in scans.items()} | {DEEP: deep}
        empty = Signal()
        for name, (walk, view) in scans.items():
            m.submodules[f"walk{name}"] = walk
            mine = (kind == name) | ((kind == ANEW) if name == ONE else 0)
            with m.If(mine):
                m.d.comb += empty.eq(_is_empty(view))
            m.d.comb += [
                walk.view.eq(view),
                walk.begin.eq(takes[0] & ~empty & mine),
                walk.step.eq(walk.walking & shows[0]),
            ]
        upper = [walk for walk, _ in scans.values()]
        walking = Cat(walk.walking for walk in upper).any()
        last = Cat(walk.walking & walk.row.last for walk in upper).any()

        # All before it is done; one is at work that everything after it has to wait for.
        awaited, at_work = Signal(range(self._PROBES + 4)), Signal()
        self._under_way = Signal()
        quiet = (awaited == 0) & ~self._under_way & (~self._pairs.busy if self._stash else 1)
        with m.If(takes[0] & (kind == STASHED)):
            m.d.sync += self._first_then.eq(self._first)
        m.d.sync += awaited.eq(awaited + takes[0] - self._picker.release[0])
        with m.If(takes[0] & (kind == ANEW)):
            m.d.sync += at_work.eq(1)
        with m.Elif(self.complete):
            m.d.sync += at_work.eq(0)
        may = self._jobs.o.valid & self._probes.i.ready & ~at_work & (~is_three | quiet)
        deep_empty = ~self._deep.o.p.some | _is_empty(one.view)
        may_deep = self._deep.o.valid & self._deep_probes.i.ready
        pause = Cat(hits.almost_full for hits in self._hits)
        m.d.comb += [
            shows[1].eq(deep.walking & ~pause[1]),
            shows[0].eq(walking & ~pause[0] & ~shows[1]),
            # What is empty takes the place of a row: not in the cycle of the last row before it.
            ends[0].eq(may & empty & ~walking & ~pause[0]),
            ends[1].eq(may_deep & deep_empty & ~deep.walking & ~pause[1]),
            takes[0].eq(Mux(empty, ends[0], may & (~walking | (shows[0] & last)))),
            takes[1].eq(Mux(deep_empty, ends[1], may_deep & (~deep.walking | (shows[1] & deep.row.last)))),
            self._jobs.o.ready.eq(takes[0]),
            self._probes.i.valid.eq(takes[0]),
            self._probes.i.p.message.eq(tuple_),
            self._probes.i.p.kind.eq(kind),
            self._probes.i.p.position.eq(Mux(kind == ONE, self._next.one, self._next.two)),
            self._stores.eq(Mux(takes[0], Cat(kind == ONE, kind == TWO), 0)),
            self._deep.o.ready.eq(takes[1]),
            self._deep_probes.i.valid.eq(takes[1]),
            self._deep_probes.i.p.eq(self._deep.o.p),
            deep.view.eq(one.view),
            deep.begin.eq(takes[1] & ~deep_empty),
            deep.step.eq(shows[1]),
        ]
        # What is compared of either.
        layout = self._probe_layout
        self._compared_with = [Signal(layout, name=f"compared_with{n}", reset_less=True) for n in range(2)]
        for n, source in enumerate((tuple_, self._deep.o.p)):
            with m.If(takes[n]):
                fields = [
                    self._keys_of(source),
                    source.time if self._combination.pairing.span is not None else Const(0, 0),
                ]
                m.d.sync += self._compared_with[n].eq(Cat(*fields, kind == ONE if n == 0 else 0))

    @property
    def _probe_layout(self):
        timed = (
            {} if self._combination.pairing.span is None else {"time": self._combination.pairing.tuple["time"].width}
        )
        return data.StructLayout({"keys": self._combination.keys, **timed, "is_one": 1})

    def _keys_of(self, message):
        """The keys of an arriving tuple, or of the tuple of S2 in what was found for one of S3."""
        if self._combination.equi:
            return message.key
        return self._combination.pairing.part(self._combination.keys, message.parts[0]).as_value()

    def _compare(self, m):
        """From the row that is chosen to what is found in it, register by register."""
        pairing = self._combination.pairing
        where = {name: field.shape for name, field in hit_layout(self._widest) if name not in ("found",)}
        layout = data.StructLayout(
            {**where, "line": 2, "ends": 2, "in_one": 1, "in_stash": 1, "probe": self._probe_layout}
        )
        along = [Signal(layout, name=f"along{n}") for n in range(self._LATENCY + 1)]
        chosen, comparing, given = along[0], along[LaneBank.LATENCY], along[-1]
        m.d.comb += [chosen.line.eq(self._shows), chosen.ends.eq(self._ends)]
        m.d.comb += chosen.probe.eq(Mux(self._shows[1], *(each.as_value() for each in reversed(self._compared_with))))
        sources = {ONE: (self._banks[1], self._places[1]), TWO: (self._banks[0], self._places[0])}
        sources |= {STASHED: (self._stash, self._stash_places), DEEP: sources[TWO]}
        for kind, walk in self._walks.items():
            bank, _ = sources[kind]
            with m.If(walk.step):
                m.d.comb += [
                    bank.show.eq(1),
                    bank.row.eq(walk.row),
                    *(chosen[name].eq(walk.row[name]) for name in ("lane", "row", "next_row", "last")),
                    chosen.in_one.eq(kind in (TWO, DEEP)),
                    chosen.in_stash.eq(kind == STASHED),
                ]
        m.d.sync += [later.eq(now) for now, later in pairwise(along)]

        found = Signal(self._widest.lanes)
        matches, counts = [], self._banks[0].counts | self._banks[1].counts
        if self._stash:
            counts = counts | self._stash.counts
        for lane in range(self._widest.lanes):
            one, two = (bank.resting[lane] for bank in self._banks)
            resting = Signal(pairing.compared, name=f"resting{lane}")
            m.d.comb += resting.eq(Mux(comparing.in_one, one.as_value(), two.as_value()))
            live = 1
            if self._stash:
                pair = self._stash.resting[lane]
                with m.If(comparing.in_stash):
                    m.d.comb += resting.eq(
                        Cat(pair.keys.as_value(), pair.time if pairing.span is not None else Const(0, 0))
                    )
                left = Cat((pair[name] - self._first_then[name])[self._position - 1] for name in ("one", "two"))
                live = ~comparing.in_stash | ~left.any()
            probe = comparing.probe
            earlier, later = (
                Signal(self._combination.keys, name=f"earlier{lane}"),
                Signal(self._combination.keys, name=f"later{lane}"),
            )
            mine = pairing.part(self._combination.keys, resting).as_value()
            m.d.comb += [
                earlier.eq(Mux(probe.is_one, probe.keys.as_value(), mine)),
                later.eq(Mux(probe.is_one, mine, probe.keys.as_value())),
            ]
            matching = Cat(pairing.predicate.holds(earlier, later)).any() & live
            if pairing.span is not None:
                matching = matching & (probe.time - resting.time < pairing.span)
            matches.append(matching)
        m.d.sync += found.eq(Cat(matches) & counts)
        for n, hits in enumerate(self._hits):
            m.d.comb += [
                hits.i.valid.eq(given.ends[n] | (given.line[n] & (found.any() | given.last))),
                *(hits.i.p[name].eq(given[name]) for name in ("lane", "row", "next_row")),
                hits.i.p.found.eq(Mux(given.ends[n], 0, found)),
                hits.i.p.last.eq(given.ends[n] | given.last),
            ]

    def _emit(self, m):
        """Pairs to the next stage and to the stash, what was found anew to the deeper scan, and results out."""
        combination, picker = self._combination, self._picker
        probe, deep = self._probes.o, self._deep_probes.o
        of_pair = (probe.p.kind == ONE) | (probe.p.kind == TWO)
        no_room = Mux(
            of_pair,
            self.to_next.full[1] | (self._pairs.almost_full if self._stash else 0),
            Mux(probe.p.kind == ANEW, self._deep.almost_full, self._results.almost_full),
        )
        m.d.comb += [
            picker.known.eq(Cat(probe.valid, deep.valid)),
            picker.says_last.eq(Cat(probe.p.message.last, deep.p.last)),
            picker.room.eq(Cat(~no_room, ~self._results.almost_full)),
            probe.ready.eq(picker.release[0]),
            deep.ready.eq(picker.release[1]),
        ]
        layout = data.StructLayout(
            {"kind": 5, "message": combination.message(3), "one": self._position, "two": self._position}
        )
        fetched, given = (Signal(layout, name=name) for name in ("fetched", "given"))
        m.d.sync += [
            fetched.kind.eq(Mux(picker.picked[0], Const(1, 5) << probe.p.kind, picker.picked[1] << DEEP)),
            fetched.message.some.eq(picker.some),
            fetched.message.last.eq(picker.last),
            fetched.one.eq(probe.p.position),
            fetched.two.eq(probe.p.position),
            given.eq(fetched),
        ]
        carried = [name for name in combination.message(1).members if name not in ("parts", "some", "last")]
        parts = fetched.message.parts
        with m.If(picker.picked[0]):
            m.d.sync += [fetched.message[name].eq(probe.p.message[name]) for name in carried]
            # Wherever it belongs: the others are fetched.
            m.d.sync += [part.eq(probe.p.message.parts[0]) for part in parts]
        with m.If(picker.picked[1]):
            m.d.sync += [fetched.message[name].eq(deep.p[name]) for name in carried]
            m.d.sync += [parts[1].eq(deep.p.parts[0]), parts[2].eq(deep.p.parts[1])]
        one, two = (store.fetched for store in self._parts)
        with m.If(fetched.kind[TWO] | fetched.kind[DEEP]):
            m.d.sync += [given.message.parts[0].eq(one.part), given.one.eq(one.position)]
        with m.If(fetched.kind[ONE] | fetched.kind[ANEW]):
            m.d.sync += [given.message.parts[1].eq(two.part), given.two.eq(two.position)]
        if self._stash:
            with m.If(fetched.kind[STASHED]):
                m.d.sync += [
                    given.message.parts[0].eq(self._stash.fetched.one),
                    given.message.parts[1].eq(self._stash.fetched.two),
                ]
        pair, result = given.kind[ONE] | given.kind[TWO], given.kind[STASHED] | given.kind[DEEP]
        plain = [name for name in combination.message(1).members if name != "parts"]
        m.d.comb += [
            self._under_way.eq(Cat(picker.picked, fetched.kind, given.kind).any()),
            self.to_next.depth.eq(Cat(Const(0, 1), pair)),
            self._deep.i.valid.eq(given.kind[ANEW]),
            self._results.i.valid.eq(result & given.message.some),
            self._results.i.p.eq(given.message),
            self.busy.eq(self._results.busy),
        ]
        for port, shift in ((self.to_next.message, 0), (self._deep.i.p, 1)):
            m.d.comb += [port[name].eq(given.message[name]) for name in plain]
            m.d.comb += [port.parts[k].eq(given.message.parts[k + shift]) for k in range(2)]
        if self._stash:
            self._keep(m, given, pair & given.message.some, fetched, one, two)
        m.d.sync += self.complete.eq(result & given.message.last)
        connect(m, self._results.o, flipped(self.o_result))

    def _keep(self, m, given, keeps, fetched, one, two):
        """A pair into the queue of the stash."""
        entry = self._pairs.i.p
        keys = given.message.key if self._combination.equi else given.message.parts[1]
        if not self._combination.equi:
            keys = self._combination.pairing.part(self._combination.keys, keys).as_value()
        m.d.comb += [
            self._pairs.i.valid.eq(keeps),
            entry.compared.keys.eq(keys),
            entry.compared.one.eq(given.one),
            entry.compared.two.eq(given.two),
            entry.parts.one.eq(given.message.parts[0]),
            entry.parts.two.eq(given.message.parts[1]),
        ]
        if self._combination.pairing.span is not None:
            # The older of the two is the one that was found.
            time = Signal.like(one.time, reset_less=True)
            m.d.sync += time.eq(Mux(fetched.kind[ONE], two.time, one.time))
            m.d.comb += entry.compared.time.eq(time)

    def _cut(self, place, places: Places):
        """A place of the widest rows, as one of these."""
        return data.View(places.place, Cat(place.lane, place.row[: places.place["row"].width]))


def _is_empty(view):
    return (view.whole == 0) & (view.rest == 0)
