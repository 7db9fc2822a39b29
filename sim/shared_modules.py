"""Hierarchical RTLIL in which each kind of part stands once.

Left to itself, Amaranth elaborates and emits a module for each *instance*: hundreds for a chain of 64 cores, alike but
for their names, and Verilator then compiles the same logic hundreds of times. Here each kind of part is elaborated
once, with exactly the ports of its signature, and every use of it becomes an instance of that module. Time and text
grow with the number of kinds, not of cores.
"""

import re

from amaranth.back import rtlil
from amaranth.hdl import ClockSignal, Instance, ResetSignal, Value
from amaranth.lib import wiring

from streamjoin.hdl.part import Part

_CAPITALISED_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Submodules that are no parts, such as the library's FIFO, have dotted names that Verilog would have to escape.
_DOTTED = re.compile(r"^(module|\s+cell) \\(\S+\.\S+)", re.MULTILINE)
_TOP = re.compile(r"^attribute \\top 1\n", re.MULTILINE)


def convert(component: wiring.Component, name: str) -> str:
    """RTLIL of ``component`` as the module ``name``, with each kind of part below it once."""
    platform = _SharingPlatform(component, name)
    top = rtlil.convert(component, name=name, platform=platform, emit_src=False)
    source = "\n".join([top, *platform.modules])
    return _DOTTED.sub(lambda match: f"{match[1]} \\{match[2].replace('.', '_')}", source)


def clock_ports(source: str) -> list[str]:
    """Which of ``clk`` and ``rst`` the first module of an RTLIL text has; a module without registers has neither."""
    top = source.partition("\nend\n")[0]
    return [name for name in ("clk", "rst") if re.search(rf"^  wire width 1 input \d+ +\\{name}$", top, re.MULTILINE)]


class _SharingPlatform:
    """The platform that parts ask for a stand-in before they elaborate; see :class:`Part`."""

    def __init__(self, top: wiring.Component, name: str):
        self.modules: list[str] = []
        self._elaborating = [top]
        self._prefix = name
        self._kinds: list[tuple[tuple, tuple[str, list[str]]]] = []
        self._names: set[str] = {name}

    def instance_of(self, part: Part) -> Instance | None:
        if part is self._elaborating[-1]:
            return None
        module, clocking = self._module_of(part)
        ports = {
            f"{'i' if member.flow == wiring.In else 'o'}_{'__'.join(map(str, path))}": Value.cast(value)
            for path, member, value in part.signature.flatten(part)
        }
        signals = {"clk": ClockSignal(), "rst": ResetSignal() if part.reset is None else part.reset}
        return Instance(module, **ports, **{f"i_{name}": signals[name] for name in clocking})

    def _module_of(self, part: Part) -> tuple[str, list[str]]:
        """The name of the module for parts of this kind, and its clock and reset."""
        # Kinds are compared, not hashed: among their arguments are layouts, which cannot be.
        for kind, module in self._kinds:
            if kind == part.kind:
                return module
        name = self._free_name(part)
        self._elaborating.append(part)
        source = rtlil.convert(part, name=name, platform=self, emit_src=False)
        self._elaborating.pop()
        source = _TOP.sub("", source)
        if part.kept:
            source = source.replace("module ", 'attribute \\keep_hierarchy "yes"\nmodule ', 1)
        self.modules.append(source)
        module = name, clock_ports(source)
        self._kinds.append((part.kind, module))
        return module

    def _free_name(self, part: Part) -> str:
        plain = name = f"{self._prefix}_{_CAPITALISED_WORD.sub('_', type(part).__name__).lower()}"
        count = 1
        while name in self._names:
            count += 1
            name = f"{plain}_{count}"
        self._names.add(name)
        return name
