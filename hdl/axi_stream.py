"""A design under the port names that block-design tools know: AXI4-Stream."""

from amaranth.hdl import ClockDomain, ClockSignal, Module, ResetSignal, Shape, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In

from streamjoin.hdl.base.part import Ported

_BYTE = 8
_PINS = {"payload": "tdata", "valid": "tvalid", "ready": "tready"}


class AxiStreamPorts(Ported):
    """The same design with other names: no register and no gate but the inverter of the reset is added.

    The streams' rules are the same in both worlds: a transfer happens in a cycle with valid and ready up, and what is
    offered stays until it is taken.

    Parameters
    ----------
    design
        A component with streams ``i_…`` and ``o_…`` beside plain ports.

    Members
    -------
    aclk, aresetn
        The clock, and the reset: active low, synchronous, for at least one cycle.
    s_axis_…_tdata, s_axis_…_tvalid, s_axis_…_tready
        In place of each ``i_…``. The data is filled up to whole bytes; the fields keep their places, and what lies
        above them is not looked at.
    m_axis_…_tdata, m_axis_…_tvalid, m_axis_…_tready
        In place of each ``o_…``; what lies above the fields is 0.

    All other ports keep their names.
    """

    def __init__(self, design: Ported):
        self.design = design
        members = {"aclk": In(1), "aresetn": In(1)}
        self._inner: dict[str, Value] = {}
        for (port, *part), member, inner in design.signature.flatten(design):
            name = f"{_prefix(port)}_{_PINS[part[0]]}" if part else port
            shape = _whole_bytes(member.shape) if part == ["payload"] else member.shape
            members[name] = wiring.Member(member.flow, shape)
            self._inner[name] = Value.cast(inner)
        super().__init__(members)

    def elaborate(self, platform):
        m = Module()
        m.domains += ClockDomain("sync", local=True)
        m.d.comb += [ClockSignal().eq(self.aclk), ResetSignal().eq(~self.aresetn)]
        m.submodules.joined = self.design
        for name, inner in self._inner.items():
            outer = Value.cast(getattr(self, name))
            m.d.comb += inner.eq(outer) if self.signature.members[name].flow == In else outer.eq(inner)
        return m


def _prefix(stream_port: str) -> str:
    side, _, name = stream_port.partition("_")
    return f"{'s' if side == 'i' else 'm'}_axis_{name}"


def _whole_bytes(shape) -> data.Layout:
    """The layout, or the plain bits, in as many bytes as it takes."""
    bits = Shape.cast(shape).width
    fields: dict[int | str, data.Field] = {"data": data.Field(shape, 0)}
    if isinstance(shape, data.Layout):
        fields = dict(shape)
    return data.FlexibleLayout(-(-bits // _BYTE) * _BYTE, fields)
