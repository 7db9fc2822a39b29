"""The driver at both ends of a low-latency handshake join: it lets tuples in and knows what has expired."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib.wiring import In

from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.base.ports import connect_gate
from streamjoin.hdl.chain.driver import ChainDriver
from streamjoin.hdl.lib.input_gate import InputGate
from streamjoin.hdl.llhj.driver_window import DriverWindow
from streamjoin.hdl.llhj.expedition import Expedition
from streamjoin.hdl.llhj.punctuation import Punctuation


class ExpeditionDriver(ChainDriver):
    """Turns two input streams into messages for both ends of the chain, and sees them come out again.

    A tuple is let in if both ends have room for a message, if the pace of the cores allows it, if there is a row for
    it, and if the tuple that it pushes out of its window has ended its expedition.

    Word of what has expired goes with the tuples of the other stream; if none comes, it goes alone, before the rows
    run out.

    Punctuations. When a tuple has ended its expedition, all cores have handled it. So the driver knows how many
    arrivals, from the first one on, they all have handled. It sends a message that says so through the cores: whatever
    they find of those arrivals, they find before they handle that message. One punctuation is under way at a time; the
    next one follows when ``period`` further arrivals are over, or when no more come, or may come without it.

    Parameters
    ----------
    expedition
        The join.
    pace
        The least number of cycles from a tuple, or two, to the next.
    period
        If there are punctuations: after how many arrivals one is due.
    outstanding
        How many arrivals may be without punctuation, if there is a limit.
    on_full
        ``"stall"`` or ``"drop"``: what to do with tuples while the chain has no room.
    start, settle
        As in :class:`InputGate`.

    Members
    -------
    i_r, i_s, to_right, to_left, from_left, from_right, busy
        As in :class:`ChainDriver`.
    punctuated
        A punctuation has come out of the join (if it has them).
    drain, drained, halted, discarding, dropped, overflows, starting
        As in :class:`InputGate`.
    """

    receives = True

    def __init__(
        self,
        expedition: Expedition,
        pace: Pace,
        *,
        period: int,
        outstanding: int | None,
        on_full: str,
        start: int,
        settle: int,
    ):
        self._expedition = expedition
        self._pace = pace
        self._period = period
        self._outstanding = outstanding
        self._on_full = on_full
        #: Cycles without an arrival after which no more seem to come.
        self._lull = max(63, 4 * pace.both)
        # Besides, a tuple takes a few cycles in each core, and so do two punctuations, one behind the other.
        self._delays = {"start": start, "settle": settle, "longest_wait": self._lull + 16 * expedition.cores}
        super().__init__(
            expedition.layout,
            rightward=expedition.channel(expedition.rightward),
            leftward=expedition.channel(expedition.leftward),
            **({"punctuated": In(1)} if expedition.layout.numbered else {}),
        )

    def elaborate(self, platform):
        m = Module()
        expedition = self._expedition
        m.submodules.gate = gate = InputGate(
            expedition.layout, expedition.windows, on_full=self._on_full, **self._delays
        )
        connect_gate(m, self, gate, expedition.layout)
        m.d.comb += self.starting.eq(gate.starting)

        enters = {"r": gate.enter_r, "s": gate.enter_s}
        exits = {
            "r": self._exit(m, "r", self.from_left, ~gate.starting),
            "s": self._exit(m, "s", self.from_right, ~gate.starting),
        }
        windows = self._windows(m, enters, {"r": gate.full_r, "s": gate.full_s}, exits)
        waits = Signal()
        punctuation = self._punctuation(m, gate, waits, enters, windows, exits) if expedition.layout.numbered else None
        punctuates, unsaid = (punctuation.goes, punctuation.unsaid) if punctuation else (0, 0)
        closed = windows["r"].closed | windows["s"].closed | (punctuation.closed if punctuation else 0)
        self._pace_out(m, waits, enters, closed)
        room = Signal()
        m.d.sync += room.eq(self.to_right.room & self.to_left.room)
        m.d.comb += [
            gate.room.eq(room),
            gate.wait.eq(waits | punctuates),
            gate.moving.eq(windows["r"].travelling | windows["s"].travelling | self.busy | unsaid),
            self.from_left.room.eq(1),
            self.from_right.room.eq(1),
        ]
        # R is the earlier of two that enter together: S knows what R has pushed out, not the other way round.
        r, s = windows["r"], windows["s"]
        self._enter(m, self.to_right, self.i_r, r, enters["r"], s.expired, s.pending)
        self._enter(m, self.to_left, self.i_s, s, enters["s"], r.expired_next, r.pending_next)
        m.d.comb += [
            s.tell.eq(enters["r"] | (~enters["r"] & gate.room & (s.hurry | punctuates))),
            r.tell.eq(enters["s"] | (~enters["s"] & gate.room & r.hurry)),
        ]
        m.d.sync += [self.to_right.valid.eq(s.tell), self.to_left.valid.eq(r.tell)]
        if punctuation is not None:
            m.d.sync += [
                self.to_left.message.tuple.order.eq(punctuation.arrivals + gate.enter_r),
                self.to_right.message.tuple.order.eq(Mux(punctuates, punctuation.handled, punctuation.arrivals)),
                self.to_right.message.punctuates.eq(punctuates),
            ]
        return m

    def _exit(self, m, side, channel, counts):
        """What comes out of the far end: whether a message does, and the message."""
        # The ends of the chain may be far away: whatever comes from there, or goes there, stands in a register.
        comes_out = Signal(name=f"comes_out_{side}")
        message = Signal(channel.message.shape(), name=f"out_of_{side}", reset_less=True)
        # Cores that have not been reset yet may still send what is of no account.
        m.d.sync += [comes_out.eq(channel.valid & counts), message.eq(channel.message)]
        return comes_out, message

    def _windows(self, m, enters, full, exits) -> dict[str, DriverWindow]:
        """What is known of both streams."""
        windows = {}
        for side, other in ("rs", "sr"):
            comes_out, message = exits[side]
            told_out, told = exits[other]
            windows[side] = DriverWindow(
                m,
                self._expedition,
                side,
                enters=enters[side],
                full=full[side],
                ended=comes_out & message.valid,
                # What has expired of a stream is told by those who bring the other.
                known=Mux(told_out, told.told, 0),
            )
        return windows

    def _punctuation(self, m, gate, waits, enters, windows, exits) -> Punctuation:
        """It goes where it keeps no tuple waiting: while none can enter anyway, or none seems to come."""
        idle = Signal()
        m.d.sync += idle.eq(~(self.i_r.valid | self.i_s.valid))
        return Punctuation(
            m,
            self._period,
            outstanding=self._outstanding,
            lull=self._lull,
            enters=enters,
            windows=windows,
            exits=exits,
            free=gate.room & (waits | idle | gate.draining),
            draining=gate.draining,
            left=self.punctuated,
        )

    def _enter(self, m, entrance, port, window, enters, expired, pending):
        """A tuple into one end, with word of what has expired of the other stream; the word may go alone, too."""
        message = entrance.message
        m.d.sync += [
            message.valid.eq(enters),
            message.fresh.eq(enters),
            message.hops.eq(window.hops),
            message.arrives.eq(window.hops == 0),
            *(message.tuple[field].eq(port.p[field]) for field in self._expedition.layout.arrival.members),
            message.expired.eq(expired),
            message.told.eq(pending),
        ]

    def _pace_out(self, m, waits, enters, closed):
        """Keep ``waits`` up, a register, while the pace allows no tuple, or the windows are closed.

        They close two cycles after a tuple that closes them, and it is known here in the third: no pace is faster.
        """
        pace = self._pace
        cost = Mux(enters["r"], Mux(enters["s"], pace.both, pace.r), pace.s)
        ahead = Signal(range(max(pace.r, pace.s, pace.both) - 1))
        with m.If(enters["r"] | enters["s"]):
            m.d.sync += [ahead.eq(cost - 2), waits.eq(1)]
        with m.Elif(ahead != 0):
            m.d.sync += ahead.eq(ahead - 1)
        with m.Else():
            m.d.sync += waits.eq(closed)
