"""Both hash windows of a join, and the way of tuples to them: each looks up one window and is stored in the other."""

from amaranth.hdl import Module
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.hash.hash_window import HashWindow, WindowSizes
from streamjoin.hdl.hash.key_groups import KeyGroups
from streamjoin.hdl.lib.pipeline import delayed


class WindowPair(Part):
    """In each cycle takes a tuple of R and one of S, as if R had come first.

    Why each pair of tuples meets exactly once. A window stores before it looks up (:class:`HashWindow`), and S is
    stored a cycle later than R: so an S tuple finds the R tuple beside it, but is not found by it. Whoever comes in a
    later cycle finds all that was stored before, and is found by none of it.

    Parameters
    ----------
    layout
        Layouts and join condition.
    groups
        Which keys share a bucket.
    sizes
        Of each window.
    pending
        Tuples that may still come after ``room`` went down, of each stream.

    Members
    -------
    tuple_r, tuple_s
        Tuples.
    probes_r, probes_s
        There is one: it looks up the other window.
    stores_r, stores_s
        It is stored, too.
    leaves_r, leaves_s
        The oldest tuple of this stream leaves its window, before the one beside it is stored.
    room
        Tuples may come.
    o
        Results of the tuples of S, and of those of R.
    busy
        There is something inside, from :attr:`FRONT` cycles after it came.
    """

    #: Cycles to the tables: the tuple, the ends of the interval it looks for, the buckets.
    FRONT = 3

    def __init__(self, layout: TupleLayout, groups: KeyGroups, sizes: dict[str, WindowSizes], pending: int):
        self._layout = layout
        self._groups = groups
        self._sizes = sizes
        self._pending = pending
        each = {"tuple": layout.tuple, "probes": 1, "stores": 1, "leaves": 1}
        super().__init__(
            {
                **{f"{name}_{side}": In(shape) for name, shape in each.items() for side in "rs"},
                "room": Out(1),
                "o": Out(layout.results).array(2),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        # What has been taken until the warning is heard is in front of the tables, and on its way through them.
        reserve = self.FRONT + HashWindow.LATENCY + self._pending
        windows = {
            side: HashWindow(self._layout, side, self._groups, self._sizes[side], reserve=reserve) for side in "rs"
        }
        for n, (side, window) in enumerate(windows.items()):
            m.submodules[f"window_{side}"] = window
            connect(m, window.o, flipped(self.o[n]))
        self._feed(m, "r", "s", windows, late=0)
        self._feed(m, "s", "r", windows, late=1)
        m.d.comb += [
            self.room.eq(windows["r"].room & windows["s"].room),
            self.busy.eq(windows["r"].busy | windows["s"].busy),
        ]
        return m

    def _feed(self, m, side, other, windows, *, late: int):
        """Tuples of one side on their way to the other one's window, and ``late`` cycles later to their own."""
        groups, theirs, own = self._groups, windows[other], windows[side]
        comes, probes, stores, leaves = (
            getattr(self, f"{name}_{side}") for name in ("tuple", "probes", "stores", "leaves")
        )
        first = delayed(m, comes, 1, name=f"first_{side}")
        ends = groups.ends(m, side, first.key)
        key = delayed(m, first.key, 1, name=f"key_{side}")
        last = delayed(m, first, self.FRONT - 1, name=f"last_{side}")
        looked_up = groups.looked_up(ends, self._sizes[other].depth)
        m.d.comb += [
            theirs.probes.eq(delayed(m, probes, self.FRONT, resets=True, name=f"probes_{side}")),
            theirs.probe.eq(last),
            theirs.wanted.eq(delayed(m, groups.wanted(ends), 1, name=f"wanted_{side}")),
            *(
                theirs.looked_up[n].eq(delayed(m, bucket, 1, name=f"looked_up_{side}{n}"))
                for n, bucket in enumerate(looked_up)
            ),
            own.enter.eq(delayed(m, stores, self.FRONT + late, resets=True, name=f"stores_{side}")),
            own.leave.eq(delayed(m, leaves, self.FRONT + late, resets=True, name=f"leaves_{side}")),
            own.tuple.eq(delayed(m, last, late, name=f"stored_{side}")),
            own.bank.eq(delayed(m, groups.parity(key), 1 + late, name=f"bank_{side}")),
            own.bucket.eq(delayed(m, groups.stored(key, self._sizes[side].depth), 1 + late, name=f"bucket_{side}")),
        ]
