"""The scheduler of a stashed join's first stage: which arrival is next, and which row it is compared with."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.one_hot import one_hot_mux
from streamjoin.hdl.multiway.lane_bank import Walk, row_layout
from streamjoin.hdl.stashed.stash_shape import ANEW, DEEP, ONE, STASHED, TWO, StashShape


class StashScheduler(Part):
    """Takes up one arrival after the other, and walks along what it is compared with.

    Work on S1 and S2 follows without a gap. An arrival of S3 waits until all that came before it is done. Where the
    stash is not complete, it scans S2 and, for each match, S1: the deeper scan first; and those after it wait until it
    is complete.

    Parameters
    ----------
    shape
        Layouts and places.
    awaiting
        Arrivals whose matches may be awaited.

    Members
    -------
    jobs, deep
        Arrivals with their streams, and what the scan of S2 anew has found.
    view0, view1, …
        Of S1, S2 and the stash, as far as there is one: its view.
    empty, next
        Whether each of them is empty; positions to come.
    answers
        The stash is complete.
    pause
        For arrivals and for what the scan anew has found: no further rows, please.
    done, quiet, complete
        The matches of an arrival have all been picked; what was picked has come to rest; an arrival of S3 is complete.
    stores
        The arrival enters the window of S1, or of S2.
    begins
        An arrival is compared with the stash as it is now.
    probes, deep_probes
        Arrivals, and what was found anew, as they are taken up.
    shows, ends
        For either: a row is shown; or one ends that has nothing to be compared with.
    row, source, probe
        The row that is shown, as one of the widest places; of S1, of S2 or of the stash, one-hot; with what it is
        compared.
    """

    def __init__(self, shape: StashShape, *, awaiting: int):
        self._shape = shape
        self._awaiting = awaiting
        message, sources = shape.combination.message, 3 if shape.room else 2
        self._places = [*shape.places, shape.stash_places][:sources]
        self.job = data.StructLayout({"message": message(1), "stream": range(3)})
        super().__init__(
            {
                "jobs": In(stream.Signature(self.job)),
                "deep": In(stream.Signature(message(2))),
                **{f"view{n}": In(places.view) for n, places in enumerate(self._places)},
                "empty": In(sources),
                "next": In(shape.positions),
                "answers": In(1),
                "pause": In(2),
                "done": In(1),
                "quiet": In(1),
                "complete": In(1),
                "stores": Out(2),
                "begins": Out(1),
                "probes": Out(stream.Signature(shape.awaiting)),
                "deep_probes": Out(stream.Signature(message(2))),
                "shows": Out(2),
                "ends": Out(2),
                "row": Out(row_layout(shape.widest)),
                "source": Out(sources),
                "probe": Out(shape.probe),
            }
        )

    def elaborate(self, platform):
        m = Module()
        job, deep, shows = self.jobs.p, self.deep, self.shows
        is_three = job.stream == 2
        kind = Signal(range(DEEP))
        m.d.comb += kind.eq(Mux(is_three, Mux(self.answers, STASHED, ANEW), job.stream))
        # A walk along S1 for S2, along S2 for S1 and for S3 anew, along the stash for S3; and one for what is found.
        walks = [Walk(places) for places in self._places]
        walks_for = [kind == TWO, (kind == ONE) | (kind == ANEW), kind == STASHED]
        deep_walk = Walk(self._places[0])
        takes, empty = Signal(2), Signal()
        m.d.comb += empty.eq(Cat(mine & none for mine, none in zip(walks_for, self.empty, strict=False)).any())
        for n, (walk, mine) in enumerate(zip(walks, walks_for, strict=False)):
            m.submodules[f"walk{n}"] = walk
            m.d.comb += [
                walk.view.eq(getattr(self, f"view{n}")),
                walk.begin.eq(takes[0] & ~empty & mine),
                walk.step.eq(walk.walking & shows[0]),
            ]
        m.submodules.deep_walk = deep_walk
        walking = Cat(walk.walking for walk in walks).any()
        last = Cat(walk.walking & walk.row.last for walk in walks).any()
        may = self.jobs.valid & self.probes.ready & self._may_begin(m, takes[0], kind, is_three)
        deep_empty = ~deep.p.some | self.empty[0]
        may_deep = deep.valid & self.deep_probes.ready
        m.d.comb += [
            shows[1].eq(deep_walk.walking & ~self.pause[1]),
            shows[0].eq(walking & ~self.pause[0] & ~shows[1]),
            # What is empty takes the place of a row: not in the cycle of the last row before it.
            self.ends[0].eq(may & empty & ~walking & ~self.pause[0]),
            self.ends[1].eq(may_deep & deep_empty & ~deep_walk.walking & ~self.pause[1]),
            takes[0].eq(Mux(empty, self.ends[0], may & (~walking | (shows[0] & last)))),
            takes[1].eq(
                Mux(deep_empty, self.ends[1], may_deep & (~deep_walk.walking | (shows[1] & deep_walk.row.last)))
            ),
            self.jobs.ready.eq(takes[0]),
            self.probes.valid.eq(takes[0]),
            self.probes.p.message.eq(job.message),
            self.probes.p.kind.eq(kind),
            self.probes.p.position.eq(Mux(kind == ONE, self.next.one, self.next.two)),
            self.stores.eq(Mux(takes[0], Cat(kind == ONE, kind == TWO), 0)),
            self.begins.eq(takes[0] & (kind == STASHED)),
            deep.ready.eq(takes[1]),
            self.deep_probes.valid.eq(takes[1]),
            self.deep_probes.p.eq(deep.p),
            deep_walk.view.eq(self.view0),
            deep_walk.begin.eq(takes[1] & ~deep_empty),
            deep_walk.step.eq(shows[1]),
        ]
        self._show(m, walks, deep_walk, takes, kind)
        return m

    def _may_begin(self, m, takes, kind, is_three):
        """All before an arrival of S3 is done; and no such one is at work that everything after it has to wait for."""
        awaited, at_work = Signal(range(self._awaiting + 4)), Signal()
        m.d.sync += awaited.eq(awaited + takes - self.done)
        with m.If(takes & (kind == ANEW)):
            m.d.sync += at_work.eq(1)
        with m.Elif(self.complete):
            m.d.sync += at_work.eq(0)
        return ~at_work & (~is_three | ((awaited == 0) & self.quiet))

    def _show(self, m, walks, deep_walk, takes, kind):
        """The row that is shown, where it is, and what it is compared with."""
        shape = self._shape
        probes = [Signal(shape.probe, name=f"probe{n}", reset_less=True) for n in range(2)]
        for n, (message, is_one) in enumerate(((self.jobs.p.message, kind == ONE), (self.deep.p, 0))):
            with m.If(takes[n]):
                m.d.sync += probes[n].eq(shape.probe_of(message, is_one))
        steps = [walk.step for walk in [*walks, deep_walk]]
        rows = [walk.row for walk in [*walks, deep_walk]]
        m.d.comb += [
            self.probe.eq(Mux(self.shows[1], probes[1].as_value(), probes[0].as_value())),
            self.source.eq(Cat(steps[0] | steps[-1], *steps[1:-1])),
        ]
        for name, field in members(self.row):
            if len(field):
                m.d.comb += field.eq(one_hot_mux(steps, [row[name] for row in rows]))


def members(view: data.View):
    """The fields of a view by name."""
    return [(name, view[name]) for name, _ in view.shape()]
