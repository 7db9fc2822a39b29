"""Several streams into one whose transfers have slots for an item of each."""

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import stream
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.slots import Slots
from streamjoin.hdl.lib.fifo import FIFO


class Packer(Part):
    """In each cycle takes what there is at its inputs, and passes it on in one transfer, in the first slots.

    Parameters
    ----------
    shape
        What an item looks like.
    lanes
        How many inputs, and slots.
    depth
        Items that may wait at each input.

    Members
    -------
    i
        Items in.
    o
        Transfers of one item or more.
    busy
        Something is inside.
    """

    def __init__(self, shape, lanes: int, depth: int = 4):
        self._shape = shape
        self._lanes = lanes
        self._depth = depth
        super().__init__(
            {
                "i": In(stream.Signature(shape)).array(lanes),
                "o": Out(stream.Signature(Slots(shape, lanes))),
                "busy": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.transfers = transfers = FIFO(self.o.p.shape(), self._depth)
        packed = Signal(Slots(self._shape, self._lanes), reset_less=True)
        some = Signal()
        moves = Signal()
        m.d.comb += [
            moves.eq(~some | transfers.i.ready),
            transfers.i.p.eq(packed),
            transfers.i.valid.eq(some),
            transfers.o.ready.eq(self.o.ready),
            self.o.valid.eq(transfers.o.valid),
            self.o.p.eq(transfers.o.p),
            self.busy.eq(some | transfers.busy),
        ]
        valid = [port.valid for port in self.i]
        m.d.comb += [port.ready.eq(moves) for port in self.i]
        with m.If(moves):
            m.d.sync += [some.eq(Cat(valid).any()), packed.count.eq(sum(valid[1:], valid[0]))]
            for n, port in enumerate(self.i):
                # An item goes into the slot behind those of the valid inputs before it.
                before = sum(valid[:n], Value.cast(0))
                for slot in range(n + 1):
                    with m.If(port.valid & (before == slot)):
                        m.d.sync += packed.slots[slot].eq(port.p)
        return m
