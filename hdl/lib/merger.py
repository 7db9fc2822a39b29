"""Mergers of two streams into one: the paper's three-state one and one that passes a result every cycle."""

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out, connect, flipped

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.lib.fifo import FIFO
from streamjoin.hdl.lib.replicated_select import replicated_mux, select_registers

#: The smallest queue: with less, one merger could not pass a result every cycle and the other could never read two.
LEAST_QUEUE = 2


class _TwoInOneOut(Part):
    """The interface that all mergers share.

    No output depends on an input of the same cycle: mergers of a tree may stand far apart.

    Parameters
    ----------
    shape
        What an item looks like.
    depth
        How many may wait.
    replicated
        Whether the select between the inputs is replicated (:mod:`streamjoin.hdl.lib.replicated_select`).

    Members
    -------
    i
        The two inputs.
    o
        Everything that entered, each input in its own order.
    busy
        Something is inside.
    """

    def __init__(self, shape, depth: int, *, replicated: bool = False):
        if depth < LEAST_QUEUE:
            raise ValueError(f"a merger needs a queue of at least {LEAST_QUEUE} results, not {depth}")
        self.shape = shape
        self.depth = depth
        self.replicated = replicated
        super().__init__({"i": In(stream.Signature(shape)).array(2), "o": Out(stream.Signature(shape)), "busy": Out(1)})

    def _chosen(self, m, turn, decides, following):
        """The item of the input whose turn it is; ``turn`` becomes ``following`` when it ``decides``."""
        first, second = (Value.cast(port.p) for port in self.i)
        if not self.replicated:
            return Mux(turn, second, first)
        return replicated_mux(select_registers(m, "turn", Mux(decides, following, turn), first), second, first)


class Merger(_TwoInOneOut):
    """Passes one result in every cycle, from whichever input has one, in turns when both have.

    Which input may send is decided one cycle ahead: the one that did not, if it has something to send, else the same
    again. So an input that is alone sends in every cycle, two that both have results alternate, and neither waits for
    more than one result of the other; a result that comes after a pause at the input whose turn it is not waits one
    cycle more.

    A result leaves two cycles after it entered, or as much later as the queue behind it is filled.
    """

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = FIFO(self.shape, self.depth)
        connect(m, queue.o, flipped(self.o))
        first, second = self.i

        turn_of_second = Signal()
        following = Mux(turn_of_second, ~first.valid, second.valid)
        chosen_valid = Signal()
        decides = queue.i.ready | ~chosen_valid
        m.d.comb += [
            chosen_valid.eq(Mux(turn_of_second, second.valid, first.valid)),
            queue.i.p.eq(self._chosen(m, turn_of_second, decides, following)),
            queue.i.valid.eq(chosen_valid),
            first.ready.eq(queue.i.ready & ~turn_of_second),
            second.ready.eq(queue.i.ready & turn_of_second),
            self.busy.eq(queue.busy),
        ]
        with m.If(decides):
            m.d.sync += turn_of_second.eq(following)
        return m


class ThreeStateMerger(_TwoInOneOut):
    """The merger of Oge et al. 2011, figure 6: at most two results in three cycles.

    State 1 reads both inputs into two buffer registers, state 2 moves the first on into the output queue, state 3
    the second; then it starts again, whether or not there was anything to move. It reads only while the queue has
    room for two, so states 2 and 3 never wait; with a queue of 2 that means that it waits for both to have moved on.
    """

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = FIFO(self.shape, self.depth, margin=1)
        connect(m, queue.o, flipped(self.o))

        buffers = [Signal(self.shape, name=f"buffer{n}", reset_less=True) for n in (1, 2)]
        valid = [Signal(name=f"valid{n}") for n in (1, 2)]

        with m.FSM():
            with m.State("STATE1"):
                for port, buffer, filled in zip(self.i, buffers, valid, strict=True):
                    m.d.comb += port.ready.eq(~queue.almost_full)
                    m.d.sync += [buffer.eq(port.p), filled.eq(port.valid & port.ready)]
                m.next = "STATE2"
            for state, following, buffer, filled in (
                ("STATE2", "STATE3", buffers[0], valid[0]),
                ("STATE3", "STATE1", buffers[1], valid[1]),
            ):
                with m.State(state):
                    m.d.comb += [queue.i.p.eq(buffer), queue.i.valid.eq(filled)]
                    m.d.sync += filled.eq(0)
                    m.next = following
        m.d.comb += self.busy.eq(queue.busy | valid[0] | valid[1])
        return m


class PunctuatedMerger(_TwoInOneOut):
    """As :class:`Merger`, for items some of which are punctuations: these have ``mark``.

    Both inputs carry the same punctuations. One that comes in waits, and with it its input, until it has come in on the
    other input, too: only then has everything come that was before it on either side. It leaves once.
    """

    def elaborate(self, platform):
        m = Module()
        m.submodules.queue = queue = FIFO(self.shape, self.depth)
        connect(m, queue.o, flipped(self.o))
        marked = Signal(2)  # inputs on which the punctuation has come
        mark = Signal(self.shape, reset_less=True)
        turn = Signal()
        following = turn ^ Mux(turn, self.i[0].valid & ~marked[0], self.i[1].valid & ~marked[1])
        chosen_valid = Signal()
        decides = queue.i.ready | ~chosen_valid
        chosen = self._chosen(m, turn, decides, following)
        takes_mark = Mux(turn, self.i[1].p.mark, self.i[0].p.mark)
        m.d.comb += [
            chosen_valid.eq(Mux(turn, self.i[1].valid & ~marked[1], self.i[0].valid & ~marked[0])),
            queue.i.p.eq(Mux(marked.all(), Value.cast(mark), chosen)),
            queue.i.valid.eq(marked.all() | (chosen_valid & ~takes_mark)),
            *(port.ready.eq(queue.i.ready & (turn == n) & ~marked[n]) for n, port in enumerate(self.i)),
            self.busy.eq(queue.busy | marked.any()),
        ]
        with m.If(marked.all()):
            with m.If(queue.i.ready):
                m.d.sync += marked.eq(0)
        with m.Elif(chosen_valid & queue.i.ready & takes_mark):
            m.d.sync += [mark.eq(chosen), marked.eq(marked | Mux(turn, 2, 1))]
        with m.If(decides):
            m.d.sync += turn.eq(following)
        return m


#: The mergers by the name of the parameter ``merger``.
MERGERS = {"streaming": Merger, "three-state": ThreeStateMerger}


def make_merger(name: str, shape, depth: int, *, replicated: bool = False) -> Part:
    """The merger that the parameter names, or one of its kind that knows punctuations."""
    if "mark" not in getattr(shape, "members", ()):
        return MERGERS[name](shape, depth, replicated=replicated)
    if name != "streaming":
        raise ValueError(f"punctuations need a streaming merger, not {name}")
    return PunctuatedMerger(shape, depth, replicated=replicated)
