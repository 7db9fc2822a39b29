"""Several components in one: what a bench tries in many variants is built once."""

from amaranth.hdl import Module
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.base.part import Ported


class Bundle(Ported):
    """Components side by side under one clock, each with its ports under its own name: several in one build."""

    def __init__(self, components: dict[str, Ported]):
        self._components = components
        super().__init__({name: Out(component.signature) for name, component in components.items()})

    def elaborate(self, platform):
        m = Module()
        for name, component in self._components.items():
            m.submodules[name] = component
            inner = component.signature.flatten(component)
            outer = component.signature.flatten(getattr(self, name))
            for (_, member, port), (_, _, own) in zip(inner, outer, strict=True):
                m.d.comb += port.eq(own) if member.flow == In else own.eq(port)
        return m
