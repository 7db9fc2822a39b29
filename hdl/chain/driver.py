"""The driver of a message chain, as the chain sees it: its ports."""

from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Part
from streamjoin.hdl.base.ports import CONTROL, input_ports
from streamjoin.hdl.base.tuple_layout import TupleLayout


class ChainDriver(Part):
    """Stands at both ends of a chain of cores: lets tuples in and turns them into messages for its ends.

    Parameters
    ----------
    layout
        Layouts.
    rightward, leftward
        Signatures of the channels from core to core.
    further_ports
        Ports that only this one has.

    Members
    -------
    i_r, i_s
        Tuples in.
    to_right, to_left
        Into the first core from its left, into the last one from its right.
    busy
        Something is in the cores or behind them.
    drain, drained, halted, discarding, dropped, overflows, starting
        As in :class:`streamjoin.hdl.lib.input_gate.InputGate`.
    """

    #: Whether messages leave the chain at its ends for the driver to see: then it has ``from_left`` and ``from_right``,
    #: what comes out of the last core and of the first.
    receives = False

    def __init__(
        self, layout: TupleLayout, *, rightward: wiring.Signature, leftward: wiring.Signature, **further_ports
    ):
        super().__init__(
            {
                **input_ports(layout),
                "to_right": Out(rightward),
                "to_left": Out(leftward),
                **({"from_left": In(rightward), "from_right": In(leftward)} if self.receives else {}),
                "busy": In(1),
                **further_ports,
                **CONTROL,
                "starting": Out(1),
            }
        )
