"""Hierarchical RTLIL in which each kind of part stands once.

Left to itself, Amaranth elaborates and emits a module for each *instance*: hundreds for a chain of 64 cores, alike but
for their names, and Verilator then compiles the same logic hundreds of times. Here each kind of part is elaborated
once, with exactly the ports of its signature, and every use of it becomes an instance of that module. Time and text
grow with the number of kinds, not of cores.
"""

import re

from amaranth.back import rtlil  # pyright: ignore[reportAttributeAccessIssue] (the stubs leave it out)
from amaranth.hdl import ClockSignal, Instance, ResetSignal, Value
from amaranth.lib import memory, wiring

from streamjoin.hdl.base.part import Part, SharingPlatform

_CAPITALISED_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Submodules that are no parts, such as the library's FIFO, have dotted names that Verilog would have to escape.
_DOTTED = re.compile(r"^(module|\s+cell) \\(\S+\.\S+)", re.MULTILINE)
_TOP = re.compile(r"^attribute \\top 1\n", re.MULTILINE)
_REGISTER = re.compile(r"^  attribute \\init ", re.MULTILINE)
_LEFT_ALONE = '  attribute \\dont_merge 1\n  attribute \\preserve 1\n  attribute \\dont_touch "true"\n'
# The start contents of a memory without any.
_NO_CONTENTS = re.compile(
    r"^  cell \$meminit_v2 .*\n(?:    .*\n)*?    connect \\DATA \{ +\}\n(?:    .*\n)*?  end\n\n?", re.MULTILINE
)


def convert(component: wiring.Component, name: str, *, share: bool = True) -> str:
    """RTLIL of ``component`` as the module ``name``, with each kind of part below it once.

    All modules' names begin with that of the top. Without ``share`` each part is a module of its own.
    """
    platform = _SharingPlatform(component, name) if share else _Platform()
    top = rtlil.convert(component, name=name, platform=platform, emit_src=False)
    source = _NO_CONTENTS.sub("", "\n".join([top, *platform.modules]))
    return _DOTTED.sub(lambda match: f"{match[1]} \\{match[2].replace('.', '_')}", source)


def clock_ports(source: str) -> list[str]:
    """Which of ``clk`` and ``rst`` the first module of an RTLIL text has; a module without registers has neither."""
    top = source.partition("\nend\n")[0]
    return [name for name in ("clk", "rst") if re.search(rf"^  wire width 1 input \d+ +\\{name}$", top, re.MULTILINE)]


def _kept(module: str) -> str:
    """The same module, for synthesis to leave alone: in the words of Yosys and Vivado, and of Quartus, which knows
    nothing of modules and wants to be told of each register."""
    registers = _REGISTER.sub(lambda register: _LEFT_ALONE + register[0], module)
    return registers.replace("module ", 'attribute \\keep_hierarchy "yes"\nmodule ', 1)


class _Platform:
    """The platform that memories are asked of."""

    def __init__(self):
        self.modules: list[str] = []

    def get_memory(self, ram: memory.Memory):
        """What Amaranth asks for instead of a memory: here the same one without start contents, unless it is a ROM.

        Every design is right from any contents. Without them a memory of a million words takes no more time to write
        down than one of two, and no synthesis loses the RAM over them.
        """
        if ram.write_ports:
            ram.data.init._raw.clear()  # pyright: ignore[reportAttributeAccessIssue] (not for everyone)
        return ram.elaborate(None)


class _SharingPlatform(_Platform, SharingPlatform):
    """The platform that parts, too, ask for a stand-in before they elaborate; see :class:`Part`."""

    def __init__(self, top: wiring.Component, name: str):
        super().__init__()
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
            source = _kept(source)
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
