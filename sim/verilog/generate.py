"""From a component to Verilog, and to the manifest that says how to speak to it.

The text is a function of the component, its name and its parameters alone: no dates, no paths, no counters of the
process that wrote it. Equal designs thus have equal hashes, and builds can be cached by content.
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from amaranth.hdl import Shape, ShapeLike
from amaranth.lib import data, wiring
from pyosys import libyosys

from streamjoin.hdl.lib.external_memory import MODELS
from streamjoin.sim.verilog import clocked_blocks, combinational, rtlil_cleanup, shared_modules
from streamjoin.sim.verilog.keywords import KEYWORDS
from streamjoin.sim.verilog.waivers import END, pragmas
from streamjoin.support.files import whole_file

_STREAM_DATA = re.compile(r"(?P<stream>(?:i|s_axis)_(?P<input>\w+?)|o_result|m_axis_result)(?:__payload|_tdata)")
# A port, and once more as a wire.
_TWICE = re.compile(r"^(  (?:input|output) (.*;\n))  wire \2", re.MULTILINE)
# What Yosys has to say of modules and registers; only what synthesis needs is kept.
_KEPT = "keep_hierarchy|dont_merge|preserve|dont_touch|no_rw_check|ramstyle"
_ATTRIBUTE = re.compile(rf"^ *\(\* (?!{_KEPT}).* \*\)\n", re.MULTILINE)
# What it has to say of a register that is a port, before the port: it belongs to the register.
_OF_A_PORT = re.compile(r"^((?:  \(\* .* \*\)\n)+)(  output .*\n)(?=  reg )", re.MULTILINE)
# Yosys numbers the names it makes up through the life of the process.
_MADE_UP_NAME = re.compile(r"\\\$\w+\$\S+:\d+:\S+\$\d+ ")


@dataclass(frozen=True)
class Verilog:
    """A design as Verilog.

    Attributes
    ----------
    text
        The Verilog source; its top module is ``manifest["name"]``.
    manifest
        ``name``; what ``about`` said (``design``, ``parameters``); ``ports``, each with ``name``, ``direction``,
        ``width`` and, where the port carries a structure, ``fields`` (``name``, ``offset``, ``width``, inner fields as
        ``outer.inner``); where several items pass in a transfer, ``slots`` is for how many, and the fields are
        ``slots.0.key`` and so on, those of the earliest first, and ``count``, how many slots hold an item; ``inputs``,
        the input streams in port order (``port``, ``stream``); ``result``, the name of the result stream, if there is
        one; ``versions`` of the tools; ``hash``, the SHA-256 of the text.
    """

    text: str
    manifest: dict

    def write(self, path: str | os.PathLike) -> None:
        """Write the Verilog to ``path`` and the manifest beside it as ``.json``, each whole or not at all."""
        path = Path(path)
        with whole_file(path) as verilog, whole_file(path.with_suffix(".json")) as manifest:
            verilog.write_text(self.text)
            manifest.write_text(json.dumps(self.manifest, indent=2) + "\n")


def generate(
    component: wiring.Component, name: str, *, about: dict | None = None, share: bool = True, aliases: bool = False
) -> Verilog:
    """Turn ``component`` into Verilog with the top module ``name``.

    ``about`` is merged into the manifest and shown in the header. ``share=False`` emits one module for each instance
    instead of one for each kind of part: larger and slower in every respect, kept to measure by how much. ``aliases``
    keeps every name that a net has, and the fields of structures: for waves, not for reading.
    """
    check_name(name)
    about = about or {}
    ports = list(_ports(component))
    source = shared_modules.convert(component, name, share=share)
    source = rtlil_cleanup.without_empty_wires(source)
    clocking = [{"name": name, "direction": "input", "width": 1} for name in shared_modules.clock_ports(source)]
    source = rtlil_cleanup.with_ports_in_order(source, [port["name"] for port in clocking + ports])
    if not aliases:
        source = rtlil_cleanup.without_aliases(source)
    versions = {package: version(package) for package in ("streamjoin", "amaranth", "pyosys")}
    text = _with_models(_to_verilog(source), name)
    text = f"{_header(name, about, versions)}{pragmas()}\n{text}{END}"
    manifest = {
        "name": name,
        **about,
        "ports": clocking + ports,
        **_streams(ports),
        "versions": versions,
        "hash": hashlib.sha256(text.encode()).hexdigest(),
    }
    return Verilog(text, manifest)


def check_name(name: str) -> None:
    """ValueError where no module of Verilog, and of SystemVerilog, can have this name."""
    if not re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII):
        raise ValueError(f"{name!r} cannot name a Verilog module: use letters, digits and underscores")
    if name in KEYWORDS:
        raise ValueError(f"{name!r} is a word of Verilog and cannot name a module: choose another name")


def _with_models(text: str, name: str) -> str:
    """The modules that the text names and does not hold, behind it; they too are named after the top."""
    for module, model in MODELS.items():
        text, uses = re.subn(rf"^( +){module} ", rf"\1{name}_{module} ", text, flags=re.MULTILINE)
        if uses:
            text += model.replace(f"module {module} ", f"module {name}_{module} ")
    return text


def _ports(component: wiring.Component) -> Iterator[dict]:
    for path, member, _ in component.signature.flatten(component):
        port = {
            "name": "__".join(map(str, path)),
            "direction": "input" if member.flow == wiring.In else "output",
            "width": _width(member.shape),
        }
        if isinstance(member.shape, data.Layout):
            port["fields"] = list(_fields(member.shape))
            port |= {"slots": slots} if (slots := _slots(member.shape)) else {}
        yield port


def _slots(layout: data.Layout) -> int:
    """How many slots a payload has; none, if it is an item itself."""
    fields = dict(layout)  # of the layout as such, or of one that fills it up to whole bytes
    shape = fields["slots"].shape if fields.keys() == {"slots", "count"} else None
    return shape.length if isinstance(shape, data.ArrayLayout) else 0


def _fields(layout: data.Layout, prefix: str = "", base: int = 0) -> Iterator[dict]:
    for key, field in layout:
        name, offset = f"{prefix}{key}", base + field.offset
        if isinstance(field.shape, data.Layout):
            yield from _fields(field.shape, f"{name}.", offset)
        else:
            yield {"name": name, "offset": offset, "width": _width(field.shape)}


def _width(shape: ShapeLike) -> int:
    return Shape.cast(shape).width


def _streams(ports: list[dict]) -> dict:
    """The input streams and the result stream, under our names or those of AXI4-Stream."""
    names = [match for port in ports if (match := _STREAM_DATA.fullmatch(port["name"]))]
    inputs = [{"port": name["stream"], "stream": _stream_name(name["input"])} for name in names if name["input"]]
    results = [name["stream"] for name in names if not name["input"]]
    return {"inputs": inputs, **({"result": results[0]} if results else {})}


def _stream_name(suffix: str) -> str:
    return f"S{suffix}" if suffix.isdigit() else suffix.upper()


def _header(name: str, about: dict, versions: dict[str, str]) -> str:
    lines = [name]
    for key, value in about.items():
        if isinstance(value, dict):
            lines.append(f"{key}:")
            lines += [f"  {inner} = {json.dumps(entry)}" for inner, entry in value.items()]
        else:
            lines.append(f"{key}: {value}")
    lines.append("generated by streamjoin {streamjoin} (amaranth {amaranth}, pyosys {pyosys})".format(**versions))
    return "".join(f"// {line}\n" for text in lines for line in text.splitlines())


def _to_verilog(source: str) -> str:
    """RTLIL to Verilog, silently.

    Processes stay processes (``-nomux``): Verilator simulates a case statement faster than a cascade of multiplexers,
    and people read it faster, too.
    """
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder, "design.il"), Path(folder, "design.v")
        before.write_text(source)
        design = libyosys.Design()
        for command in (
            f'read_rtlil "{before}"',
            "opt_expr -fine t:$lt t:$le t:$gt t:$ge",
            "proc -nomux -norom",
            "memory_collect",
            f'write_verilog -norename "{after}"',
        ):
            design.run_pass(f"tee -q {command}")
        verilog = after.read_text()
    verilog = verilog.partition("*/\n\n")[2]  # Yosys' own header tells which compiler built it
    verilog = combinational.started(clocked_blocks.in_one_block(verilog))
    verilog = _OF_A_PORT.sub(r"\2\1", _TWICE.sub(r"\1", _ATTRIBUTE.sub("", verilog)))
    stable: dict[str, str] = {}
    return _MADE_UP_NAME.sub(lambda match: stable.setdefault(match[0], f"\\$auto${len(stable) + 1} "), verilog)
