"""The join core that makes all comparisons of a segment in one cycle."""

from itertools import combinations

from amaranth.hdl import Cat, Const, Module, Signal
from amaranth.lib import data, memory
from amaranth.lib.wiring import connect, flipped
from amaranth.utils import ceil_log2

from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.lib.delay_line import DelayLine
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.one_hot import one_hot_encode
from streamjoin.hdl.lib.ram import NEVER_COLLIDES
from streamjoin.hdl.lockstep.core import JoinCore


class ParallelCore(JoinCore):
    """Takes a command in every cycle; results follow one a cycle.

    Comparing. A tuple that enters from R is compared with all S slots in the cycle of the command. A tuple that
    enters from S is compared one cycle later, when it is in the segment's first slot and the R window has already
    shifted: it meets the R window with the new R tuple in it, as the order R before S wants, without a multiplexer.
    What came of it is registered before it is told apart from comparisons with empty slots, and again before its
    matches are counted: five cycles after the command the outcome is a mask of one bit a slot, and the number of bits
    that are set. Masks with no bit set are forgotten.

    Serialising. A mask that has bits goes into the match queue, and bit by bit becomes results. By then the windows
    have shifted on, so a mask says which slots matched *at the time of the command*; what the results need of the
    tuples themselves is kept in two histories, rings in RAM in which a tuple stays where it was written. With the
    mask goes where the histories stood, and a slot's number is its distance from there.

    Why nothing is lost. A history holds at least a whole segment and, beyond it, as many tuples as may enter while a
    mask waits. ``full`` goes up when the match queue has room only for what is under way, or when the oldest mask has
    waited so long that its tuples are about to be overwritten; both leave room for the commands that still come.
    Serialising waits for nothing but the result queue, which drains towards the output: so ``full`` goes down again.

    Cost. One cycle a command; one cycle a result. A pair leaves the core fourteen cycles after the command if
    nothing else waits: five for the mask, two in the match queue, one to become the current mask, four to choose a
    bit, make its addresses, read and hold the tuples, and two in the result queue.

    Parameters
    ----------
    match_queue
        Masks that may wait before the core asks for a halt.
    queue
        Results that may wait for the merging tree.
    """

    #: From a command to its mask being in the match queue.
    latency = 6
    PACE = Pace(r=1, s=1, both=1)
    #: From the choice of a bit to its result at the queue: the bit, its addresses, the memories, their data.
    _READ = 4
    #: From the age of the current mask to ``full``: the age, the verdict.
    _NOTICE = 2

    def __init__(
        self, layout: TupleLayout, *, segment_r: int, segment_s: int, match_queue: int, queue: int, reaction: int
    ):
        self._margin = 1 + reaction + self.latency
        self._match_queue = match_queue + self._margin
        self._queue = queue + self._READ + 1
        # How many tuples may enter between the age at which a mask makes the core full and its last read.
        self._grace = self._NOTICE + reaction + self._READ + 1
        longest = max(segment_r, segment_s)
        self._history = 1 << ceil_log2(longest + self._grace + 2 * match_queue)
        super().__init__(layout, segment_r=segment_r, segment_s=segment_s, reaction=reaction)

    def elaborate(self, platform):
        m = Module()
        command, layout = self.command, self.layout

        valid_r, slots_r = self._window(m, "r", self.segment_r, command.enter_r, self.i_r, self.o_r)
        valid_s, slots_s = self._window(m, "s", self.segment_s, command.enter_s, self.i_s, self.o_s)
        m.d.comb += [self.leaves_r.eq(command.enter_r), self.leaves_s.eq(command.enter_s)]
        head_r, past_r = self._remember(m, "r", layout.r_part, command.enter_r, self.i_r.tuple)
        head_s, past_s = self._remember(m, "s", layout.s_part, command.enter_s, self.i_s.tuple)

        # In the cycle of the command the R tuple is still at the door; one cycle later the S tuple is in slot 0.
        newcomer_r = command.enter_r & self.i_r.valid
        newcomer_s = _later(m, "newcomer_s", command.enter_s & self.i_s.valid, reset_less=False)
        matches_r = self._matches(m, "r", (layout.matches(self.i_r.tuple, s) for s in slots_s), valid_s, newcomer_r)
        matches_s = self._matches(m, "s", (layout.matches(r, slots_s[0]) for r in slots_r), valid_r, newcomer_s)
        found = Cat(_later(m, "matches_r_late", matches_r, reset_less=False), matches_s)

        fours = [Signal(3, name=f"ones{n}", reset_less=True) for n in range(0, len(found), 4)]
        # Where there is nothing to count, a simulation need not.
        with m.If(found.any()):
            m.d.sync += [four.eq(_ones(found[4 * n : 4 * n + 4])) for n, four in enumerate(fours)]
        waiting = data.StructLayout(
            {"mask": len(found), "bits": range(len(found) + 1), "r": head_r.shape(), "s": head_s.shape()}
        )
        m.submodules.matches = matches = FIFO(waiting, self._match_queue, margin=self._margin)
        m.d.comb += [
            matches.i.p.mask.eq(_later(m, "mask", found, cycles=2)),
            matches.i.p.bits.eq(_later(m, "bits", sum(fours))),
            # The S slots as they were before the command, the R slots as they were after it.
            matches.i.p.r.eq(_later(m, "at_r", head_r, cycles=4)),
            matches.i.p.s.eq(_later(m, "at_s", head_s, cycles=5)),
            matches.i.valid.eq(_later(m, "any", found.any(), cycles=2, reset_less=False)),
        ]

        current = Signal(waiting, reset_less=True)
        occupied = Signal()
        m.submodules.results = results = FIFO(layout.result, self._queue, margin=self._READ + 1)
        connect(m, results.o, flipped(self.o_result))
        underway = self._serialise(m, current, occupied, matches, results, past_r, past_s)

        # Tuples that have entered since the current mask; all that wait behind it are younger.
        is_old = Cat(
            _later(m, f"age_{name}", (head - current[name])[: len(head)]) >= self._history - segment - 1 - self._grace
            for name, head, segment in (("r", head_r, self.segment_r), ("s", head_s, self.segment_s))
        )
        stale = _later(m, "waits", occupied) & is_old.any()
        m.d.comb += [
            self.full.eq(_later(m, "stop", matches.almost_full | stale)),
            self.busy.eq(matches.busy | occupied | underway.any() | results.busy),
        ]
        return m

    def _window(self, m, name, length, enter, entering, leaving):
        """A shift register; what is compared can be seen in all slots at once, payloads go through a delay line."""
        m.submodules[f"payloads_{name}"] = payloads = DelayLine(self.layout.tuple["payload"].shape, length)
        valid = Signal(length, name=f"valid_{name}")
        slots = [Signal(self.layout.compared, name=f"{name}{n}", reset_less=True) for n in range(length)]
        newest = self.layout.part(self.layout.compared, entering.tuple)
        with m.If(enter):
            m.d.sync += valid.eq((valid << 1) | entering.valid)
            m.d.sync += [slot.eq(before) for slot, before in zip(slots, [newest, *slots], strict=False)]
        m.d.comb += [
            payloads.shift.eq(enter),
            payloads.i.eq(entering.tuple.payload),
            leaving.valid.eq(valid[-1]),
            leaving.tuple.payload.eq(payloads.o),
            *(leaving.tuple[field].eq(slots[-1][field]) for field in self.layout.compared.members),
        ]
        return valid, slots

    def _matches(self, m, name, matches, valid, newcomer):
        """Which slots the newcomer made a pair with, two cycles after it was compared with all of them."""
        match = _later(m, f"match_{name}", Cat(matches))
        filled = _later(m, f"filled_{name}", valid)
        met = _later(m, f"met_{name}", newcomer, reset_less=False)
        return _later(m, f"matches_{name}", match & filled & met.replicate(len(match)), reset_less=False)

    def _remember(self, m, name, part, enter, entering):
        """A ring of what results need of the tuples of one stream; the head is where the next one will be."""
        m.submodules[f"history_{name}"] = history = memory.Memory(
            shape=part, depth=self._history, init=[], attrs=NEVER_COLLIDES
        )
        write = history.write_port()
        head = Signal(range(self._history), name=f"head_{name}")
        m.d.comb += [write.addr.eq(head), write.data.eq(self.layout.part(part, entering)), write.en.eq(enter)]
        with m.If(enter):
            m.d.sync += head.eq(head + 1)
        return head, history.read_port()

    def _serialise(self, m, current, occupied, matches, results, past_r, past_s):
        """Turn the current mask into results, lowest bit first; returns which cycles' results are on their way.

        Whether a mask has come to its last bit is known a cycle before, by counting: the queue waits for no search.
        """
        rest = Signal.like(current.mask)
        last = Signal()
        issue = Signal()
        m.d.comb += [
            rest.eq(current.mask & (current.mask - 1)),
            issue.eq(occupied & ~results.almost_full),
            matches.o.ready.eq(~occupied | (issue & last)),
        ]
        with m.If(matches.o.ready):
            m.d.sync += [current.eq(matches.o.p), occupied.eq(matches.o.valid), last.eq(matches.o.p.bits == 1)]
        with m.Elif(issue):
            m.d.sync += [
                current.mask.eq(rest),
                current.bits.eq(current.bits - 1),
                last.eq(current.bits == 2),
            ]

        # The histories' heads are one past the newest tuple. A match of R stands beside R's newcomer, in the S window
        # before the command; one of S in the R window after it, beside S's newcomer, which is at S's old head.
        chosen = _later(m, "chosen", current.mask & ~rest)
        match_r, match_s = chosen[: self.segment_s], chosen[self.segment_s :]
        at_r, at_s = _later(m, "from_r", current.r), _later(m, "from_s", current.s)
        m.d.sync += [
            past_r.addr.eq(at_r - 1 - one_hot_encode(match_s)),
            past_s.addr.eq(at_s - one_hot_encode(Cat(0, match_r))),
        ]
        result = Signal(self.layout.result, reset_less=True)
        underway = Signal(self._READ)
        m.d.sync += [*self.layout.join(result, past_r.data, past_s.data), underway.eq(Cat(issue, underway))]
        m.d.comb += [results.i.p.eq(result), results.i.valid.eq(underway[-1])]
        return underway


def _later(m, name, value, *, cycles=1, reset_less=True):
    """What ``value`` was some cycles before; only what says that something else counts needs a reset."""
    for cycle in range(cycles):
        register = Signal(len(value), name=name if cycle == cycles - 1 else f"{name}_{cycle}", reset_less=reset_less)
        m.d.sync += register.eq(value)
        value = register
    return value


def _ones(bits):
    """How many of up to four bits are up, each digit a function of these bits alone."""
    pairs = Cat(one & other for one, other in combinations(bits, 2))
    four = bits.all() if len(bits) == 4 else Const(0, 1)
    return Cat(bits.xor(), pairs.any() & ~four, four)
