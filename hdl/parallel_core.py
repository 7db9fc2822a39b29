"""The join core that makes all comparisons of a segment in one cycle."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, memory
from amaranth.lib.wiring import connect, flipped
from amaranth.utils import ceil_log2

from streamjoin.hdl.core import JoinCore, Pace
from streamjoin.hdl.pairing import Pairing
from streamjoin.hdl.queue import Queue


class ParallelCore(JoinCore):
    """Takes a command in every cycle; results follow one a cycle.

    Comparing. A tuple that enters from R is compared with all S slots in the cycle of the command. A tuple that
    enters from S is compared one cycle later, when it is in the segment's first slot and the R window has already
    shifted: it meets the R window with the new R tuple in it, as the order R before S wants, without a multiplexer.
    Two cycles after the command the outcome is a mask of one bit a slot. Masks with no bit set are forgotten.

    Serialising. A mask that has bits goes into the match queue, and bit by bit becomes results. By then the windows
    have shifted on, so a mask says which slots matched *at the time of the command*; what the results need of the
    tuples themselves is kept in two histories, rings in RAM in which a tuple stays where it was written. With the
    mask goes where the histories stood, and a slot's number is its distance from there.

    Why nothing is lost. A history holds at least a whole segment and, beyond it, as many tuples as may enter while a
    mask waits. ``full`` goes up when the match queue has room only for what is under way, or when the oldest mask has
    waited so long that its tuples are about to be overwritten; both leave room for the commands that still come.
    Serialising waits for nothing but the result queue, which drains towards the output: so ``full`` goes down again.

    Cost. One cycle a command; one cycle a result. A pair leaves the core seven cycles after the command if
    nothing else waits.

    Parameters
    ----------
    match_queue
        Masks that may wait before the core asks for a halt.
    queue
        Results that may wait for the merging tree.
    """

    #: From a command to its mask being in the match queue.
    latency = 3
    PACE = Pace(r=1, s=1, both=1)
    #: From the choice of a bit to its result at the queue: address, read.
    _READ = 2

    def __init__(
        self, pairing: Pairing, *, segment_r: int, segment_s: int, match_queue: int, queue: int, reaction: int
    ):
        self._margin = reaction + self.latency
        self._match_queue = match_queue + self._margin
        self._queue = queue + self._READ + 1
        # How much older than the newest tuple a mask may grow, from ``full`` to the last read.
        self._grace = self._margin + self._READ + 1
        longest = max(segment_r, segment_s)
        self._history = 1 << ceil_log2(longest + self._grace + 2 * match_queue)
        super().__init__(pairing, segment_r=segment_r, segment_s=segment_s, reaction=reaction)

    def elaborate(self, platform):
        m = Module()
        command, pairing = self.command, self.pairing

        valid_r, tuples_r = self._window(m, "r", self.segment_r, command.enter_r, self.i_r)
        valid_s, tuples_s = self._window(m, "s", self.segment_s, command.enter_s, self.i_s)
        m.d.comb += [
            self.o_r.valid.eq(valid_r[-1]),
            self.o_r.tuple.eq(tuples_r[-1]),
            self.o_s.valid.eq(valid_s[-1]),
            self.o_s.tuple.eq(tuples_s[-1]),
            self.leaves_r.eq(command.enter_r),
            self.leaves_s.eq(command.enter_s),
        ]
        head_r, past_r = self._remember(m, "r", pairing.r_part, command.enter_r, self.i_r.tuple)
        head_s, past_s = self._remember(m, "s", pairing.s_part, command.enter_s, self.i_s.tuple)

        # One cycle after the command: R's hits; S's newcomer is in slot 0. Two cycles after: the mask.
        newcomer_r = command.enter_r & self.i_r.valid
        newcomer_s = Signal()
        hits_r = Signal(self.segment_s)
        head_s_before = Signal.like(head_s, reset_less=True)
        waiting = data.StructLayout({"mask": self.segment_s + self.segment_r, "r": head_r.shape(), "s": head_s.shape()})
        mask = Signal(self.segment_s + self.segment_r)
        at_r = Signal.like(head_r, reset_less=True)
        at_s = Signal.like(head_s, reset_less=True)
        match_r = Cat(pairing.matches(self.i_r.tuple, s) for s in tuples_s)
        match_s = Cat(pairing.matches(r, tuples_s[0]) for r in tuples_r)
        hits_s = match_s & valid_r & newcomer_s.replicate(self.segment_r)
        m.d.sync += [
            hits_r.eq(match_r & valid_s & newcomer_r.replicate(self.segment_s)),
            newcomer_s.eq(command.enter_s & self.i_s.valid),
            head_s_before.eq(head_s),
            mask.eq(Cat(hits_r, hits_s)),
            at_r.eq(head_r),
            at_s.eq(head_s_before),
        ]

        m.submodules.matches = matches = Queue(waiting, self._match_queue, margin=self._margin)
        m.d.comb += [
            matches.i.p.mask.eq(mask),
            matches.i.p.r.eq(at_r),
            matches.i.p.s.eq(at_s),
            matches.i.valid.eq(mask.any()),
        ]

        current = Signal(waiting)
        m.submodules.results = results = Queue(pairing.result, self._queue, margin=self._READ + 1)
        connect(m, results.o, flipped(self.o_result))
        serialising = self._serialise(m, current, matches, results, past_r, past_s)

        # Tuples that have entered since the current mask; all that wait behind it are younger.
        age_limit = [self._history - segment - 1 - self._grace for segment in (self.segment_r, self.segment_s)]
        age_r = (head_r - current.r)[: len(head_r)]
        age_s = (head_s - current.s)[: len(head_s)]
        stale = current.mask.any() & ((age_r >= age_limit[0]) | (age_s >= age_limit[1]))
        m.d.comb += [
            self.full.eq(matches.almost_full | stale),
            self.busy.eq(matches.o.valid | serialising | results.o.valid),
        ]
        return m

    def _window(self, m, name, length, enter, entering):
        """A shift register whose slots can all be seen at once."""
        valid = Signal(length, name=f"valid_{name}")
        tuples = [Signal(self.pairing.tuple, name=f"{name}{n}", reset_less=True) for n in range(length)]
        with m.If(enter):
            m.d.sync += valid.eq((valid << 1) | entering.valid)
            m.d.sync += [slot.eq(before) for slot, before in zip(tuples, [entering.tuple, *tuples], strict=False)]
        return valid, tuples

    def _remember(self, m, name, part, enter, entering):
        """A ring of what results need of the tuples of one stream; the head is where the next one will be."""
        m.submodules[f"history_{name}"] = history = memory.Memory(shape=part, depth=self._history, init=[])
        write = history.write_port()
        head = Signal(range(self._history), name=f"head_{name}")
        m.d.comb += [write.addr.eq(head), write.data.eq(self.pairing.part(part, entering)), write.en.eq(enter)]
        with m.If(enter):
            m.d.sync += head.eq(head + 1)
        return head, history.read_port()

    def _serialise(self, m, current, matches, results, past_r, past_s):
        """Turn the current mask into results, lowest bit first; returns whether any are on their way."""
        after_lowest = Signal.like(current.mask)
        m.d.comb += after_lowest.eq(current.mask & (current.mask - 1))
        lowest = current.mask & ~after_lowest
        issue = Signal()
        m.d.comb += issue.eq(current.mask.any() & ~results.almost_full)
        m.d.comb += matches.o.ready.eq(~current.mask.any() | (issue & ~after_lowest.any()))
        with m.If(matches.o.ready & matches.o.valid):
            m.d.sync += current.eq(matches.o.p)
        with m.Elif(issue):
            m.d.sync += current.mask.eq(after_lowest)

        # S slots as they were before the command, R slots as they were after it; the newcomers beside them.
        bits_r, bits_s = lowest[: self.segment_s], lowest[self.segment_s :]
        of_r = bits_r.any()
        with m.If(issue):
            m.d.sync += [
                past_r.addr.eq(current.r - 1 - Mux(of_r, 0, _number(bits_s))),
                past_s.addr.eq(Mux(of_r, current.s - 1 - _number(bits_r), current.s)),
            ]
        underway = Signal(self._READ)
        m.d.sync += underway.eq(Cat(issue, underway))
        m.d.comb += [*self.pairing.join(results.i.p, past_r.data, past_s.data), results.i.valid.eq(underway[-1])]
        return current.mask.any() | underway.any()


def _number(one_hot):
    """The number of the bit that is up, 0 if none is."""
    bits = range(len(one_hot))
    width = ceil_log2(len(one_hot))
    return Cat(Cat(one_hot[n] for n in bits if n >> place & 1).any() for place in range(width))
