"""A join that tests itself: tuples made on the chip, a checksum of the results, and a verdict."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import data
from amaranth.lib.wiring import Out, connect
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.parameters import JoinParameters, ParameterError
from streamjoin.hdl.base.part import Ported
from streamjoin.hdl.board.checksum import ResultChecksum
from streamjoin.hdl.board.generator import PairGenerator
from streamjoin.hdl.board.transfers import PairTransfers
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.xorshift import WORD
from streamjoin.reference.arrivals import Windows
from streamjoin.reference.join import count_overflows
from streamjoin.reference.key_ranges import closed
from streamjoin.reference.vectorised import window_join_array

# Pairs that wait between the generator and the design: enough to keep a design busy that takes one in every cycle.
_QUEUE = 4


class SelfTest(Ported):
    """Feeds a design with tuples of its own, drains it, and compares count and checksum of the results with those
    that the reference computes when the hardware is made.

    Pairs of R and S are offered together, so the order of arrival is R, S, R, S, … A design that takes several tuples
    of a stream in a cycle gets transfers of one pair, of two, and so on. The output is always taken. The test begins
    after the reset and runs once. It fails if results differ, if the design's counters do, or if the design stands
    still for longer than its parameters' ``patience`` allows.

    Parameters
    ----------
    design
        A design of two streams, made from ``parameters``.
    parameters
        Its parameters; not with ``on_full="drop"``, where it depends on the cycle which tuples are joined.
    tuples
        How many in all; by default enough to fill the windows four times over.
    seed
        Other tuples.
    expected
        Count and checksum to find, where it is not the reference that decides: to see the test fail.

    Members
    -------
    running, done
        Not yet finished; finished.
    passed, failed
        Both down until ``done``, and then one of them up.
    """

    def __init__(
        self,
        design: Ported,
        parameters: JoinParameters,
        *,
        tuples: int | None = None,
        seed: int = 1,
        expected: tuple[int, int] | None = None,
    ):
        if len(parameters.streams) != 2:
            raise ParameterError(f"a self-test feeds two streams, not {len(parameters.streams)}: take another design")
        if parameters.output_meaning.instead:
            raise ParameterError(f"a self-test sums up pairs, and this join gives {parameters.output_meaning.instead}")
        if parameters.on_full == "drop":
            raise ParameterError("a self-test cannot know which tuples on_full=drop will lose: take on_full=stall")
        self.tuples = 4 * sum(parameters.windows) if tuples is None else tuples
        if self.tuples < 2 or self.tuples % 2:
            raise ParameterError(f"a self-test takes an even number of tuples, from 2 up, not {tuples}")
        self.design = design
        self.parameters = parameters
        self._generator = PairGenerator(
            parameters.layout,
            pairs=self.tuples // 2,
            key_bits=_key_bits(parameters),
            seed=seed,
            time_shift=_time_shift(parameters),
        )
        # Of what is between results, only the results count.
        fields = {name: field for name, field in parameters.layout.result.members.items() if name != "mark"}
        self._checksums = [ResultChecksum(data.StructLayout(fields)) for _ in range(parameters.layout.results_width)]
        self.expected, self.overflows = self._reference()
        if self.expected[0] == 0:
            raise ParameterError(
                f"none of the self-test's {self.tuples} tuples match, and a dead design would pass: give more tuples"
            )
        if expected is not None:
            self.expected = expected
        super().__init__({name: Out(1) for name in ("running", "done", "passed", "failed")})

    def _reference(self) -> tuple[tuple[int, int], int]:
        """Count and checksum of the results, and the number of overflows, in software."""
        p, arrivals = self.parameters, self._generator.arrivals()
        windows = Windows(p.windows, p.spans)
        results = window_join_array(arrivals, p.predicate, windows)
        columns = {}
        checksum = self._checksums[0]
        for name in checksum.layout.members:
            # In an equi-join the keys of both are one field.
            field, _, side = name.partition("_")
            chosen = results[:, "rs".index(side or "r")]
            columns[name] = results.max(axis=1, initial=0) if name == "order" else getattr(arrivals, field)[chosen]
        return checksum.of(columns), count_overflows(arrivals, windows)

    def elaborate(self, platform):
        m = Module()
        design = self.design
        m.submodules.joined = design
        m.submodules.generator = generator = self._generator
        m.submodules.pairs = pairs = FIFO(generator.o.p.shape(), _QUEUE)
        connect(m, generator.o, pairs.i)
        found, came = self._sum_up(m)

        left = Signal(range(generator.pairs + 1), init=generator.pairs)
        if self.parameters.width == 1:
            taken, pairs_taken = self._feed(m, pairs.o), 1
        else:
            taken, pairs_taken = self._feed_together(m, pairs.o)
        moved = Signal()
        m.d.sync += moved.eq(taken | came)
        with m.If(taken):
            m.d.sync += left.eq(left - pairs_taken)
        self._judge(m, left, moved, found)
        return m

    def _sum_up(self, m):
        """Take every result; returns count and checksum, when they have settled, and whether a result comes now."""
        out = self.design.o_result
        several = len(self._checksums) > 1
        for n, checksum in enumerate(self._checksums):
            m.submodules[f"checksum_{n}" if several else "checksum"] = checksum
            result = out.p.slots[n] if several else out.p
            there = out.valid & (out.p.count > n) if several else out.valid
            between = result.mark if self.parameters.numbered else 0
            m.d.comb += [
                *(checksum.i.p[name].eq(result[name]) for name in checksum.layout.members),
                checksum.i.valid.eq(there & ~between),
            ]
        m.d.comb += out.ready.eq(self._checksums[0].i.ready)
        if not several:
            return (self._checksums[0].count, self._checksums[0].total), self._checksums[0].i.valid
        count, total = Signal(WORD), Signal(WORD)
        m.d.sync += [
            count.eq(sum(each.count for each in self._checksums)),
            total.eq(sum(each.total for each in self._checksums)),
        ]
        return (count, total), out.valid

    def _feed(self, m, pairs):
        """Offer both tuples of a pair; returns whether it is done with: they are taken in one cycle or in two."""
        offers = {"r": self.design.i_r, "s": self.design.i_s}
        taken = {side: Signal(name=f"taken_{side}") for side in offers}
        now = {side: Signal(name=f"now_{side}") for side in offers}
        m.d.comb += pairs.ready.eq(now["r"] & now["s"])
        for side, port in offers.items():
            m.d.comb += [
                port.p.eq(pairs.p[side]),
                port.valid.eq(pairs.valid & ~taken[side]),
                now[side].eq(taken[side] | port.ready),
            ]
            with m.If(pairs.valid):
                m.d.sync += taken[side].eq(now[side] & ~pairs.ready)
        return pairs.valid & pairs.ready

    def _feed_together(self, m, pairs):
        """Offer transfers of several pairs; returns whether one is taken, and how many pairs it holds."""
        m.submodules.transfers = transfers = PairTransfers(self.parameters.layout)
        connect(m, pairs, transfers.i)
        connect(m, transfers.o_r, self.design.i_r)
        connect(m, transfers.o_s, self.design.i_s)
        return transfers.o_r.valid & transfers.o_r.ready, transfers.o_r.p.count

    def _judge(self, m, left, moved, found):
        """Drain the design when no pairs are left, compare what it gave, and give up if nothing moves for too long."""
        design = self.design
        # Whatever has to be compared gets a register: neither the sums nor the comparisons limit the clock.
        right = Signal(4)
        m.d.sync += right.eq(
            Cat(
                found[0] == self.expected[0],
                found[1] == self.expected[1],
                design.dropped == 0,
                design.overflows == self.overflows,
            )
        )
        patience = Signal(ceil_log2(self.parameters.patience + 64) + 1)
        with m.If(moved):
            m.d.sync += patience.eq(0)
        with m.Else():
            m.d.sync += patience.eq(patience + 1)
        latency = self._checksums[0].latency + (len(self._checksums) > 1)
        settling = Signal(range(latency + 4), init=latency + 3)
        m.d.comb += self.running.eq(~self.done)
        with m.FSM():
            with m.State("FEED"):
                with m.If(left == 0):
                    m.next = "DRAIN"
            with m.State("DRAIN"):
                m.d.comb += design.drain.eq(1)
                with m.If(design.drained):
                    m.next = "SETTLE"
            with m.State("SETTLE"):
                m.d.comb += design.drain.eq(1)
                m.d.sync += settling.eq(settling - 1)
                with m.If(settling == 0):
                    m.d.sync += [self.done.eq(1), self.passed.eq(right.all()), self.failed.eq(~right.all())]
                    m.next = "DONE"
            with m.State("DONE"):
                m.d.comb += design.drain.eq(1)
        with m.If(~self.done & patience[-1]):
            m.d.sync += [self.done.eq(1), self.passed.eq(0), self.failed.eq(1)]


def _key_bits(parameters: JoinParameters) -> int:
    """So many that a tuple finds about one partner in a window, where the predicate tells."""
    ranges = closed(parameters.predicate.key_ranges)
    reach = 1 + 2 * max(abs(bound) for pair in ranges for bound in pair) if ranges else 1
    return max(2, ceil_log2(max(parameters.windows)) + ceil_log2(reach))


def _time_shift(parameters: JoinParameters) -> int:
    """So many that a short span reaches over about half of the tuples that windows have room for."""
    if parameters.spans is None:
        return 0
    return max(0, (sum(parameters.windows) // (2 * min(parameters.spans))).bit_length() - 1)
