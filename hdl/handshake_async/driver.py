"""The driver at both ends of an asynchronous handshake join: it lets tuples in and says which ones go."""

from amaranth.hdl import Module, Signal

from streamjoin.hdl.base.ports import connect_gate
from streamjoin.hdl.chain.driver import ChainDriver
from streamjoin.hdl.handshake_async.handover import Handover
from streamjoin.hdl.lib.input_gate import InputGate


class HandoverDriver(ChainDriver):
    """Turns two input streams into messages for both ends of the chain.

    A tuple is let in if both ends have room for a message and for another tuple. If its window is full, the other end
    is told in the same cycle that the oldest tuple goes. Draining removes all of R, one a cycle.

    Parameters
    ----------
    handover
        The join.
    on_full
        ``"stall"`` or ``"drop"``: what to do with tuples while the chain has no room.
    start, settle
        As in :class:`InputGate`.

    Members
    -------
    i_r, i_s, to_right, to_left, busy
        As in :class:`ChainDriver`.
    drain, drained, halted, discarding, dropped, overflows, starting
        As in :class:`InputGate`.
    """

    def __init__(self, handover: Handover, *, on_full: str, start: int, settle: int):
        self._handover = handover
        self._gate = lambda: InputGate(handover.layout, handover.windows, on_full=on_full, start=start, settle=settle)
        super().__init__(handover.layout, rightward=handover.channel("r"), leftward=handover.channel("s"))

    def elaborate(self, platform):
        m = Module()
        m.submodules.gate = gate = self._gate()
        connect_gate(m, self, gate, self._handover.layout)
        m.d.comb += self.starting.eq(gate.starting)
        # Tuples of R that have not been told to go.
        held = Signal(range(self._handover.windows[0] + 1))
        room = Signal()
        m.d.sync += room.eq(self.to_right.room & self.to_left.room)
        retires = gate.draining & (held != 0) & room
        # That a tuple enters is known late, so it is counted a cycle later.
        entered = Signal()
        m.d.sync += [entered.eq(gate.enter_r & ~gate.full_r), held.eq(held + entered - retires)]

        open_ = {side: Signal(name=f"open_{side}") for side in "rs"}
        for side, channel, port, enter, removes in (
            ("r", self.to_right, self.i_r, gate.enter_r, gate.enter_s & gate.full_s),
            ("s", self.to_left, self.i_s, gate.enter_s, (gate.enter_r & gate.full_r) | retires),
        ):
            # The ends of the chain may be far away: whatever comes from there, or goes there, stands in a register.
            m.d.sync += [
                open_[side].eq(channel.load < self._handover.rooms[side]),
                channel.valid.eq(enter | removes),
                channel.message.enters.eq(enter),
                channel.message.removes.eq(removes),
                channel.message.tuple.eq(port.p),
            ]
        m.d.comb += [
            gate.room.eq(room & open_["r"] & open_["s"]),
            gate.moving.eq((held != 0) | entered | self.busy),
        ]
        return m
