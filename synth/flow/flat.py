"""A design as one flat module in which every net stands once: what its switching is counted on."""

import hashlib
from pathlib import Path

from streamjoin.sim.verilog.generate import Verilog
from streamjoin.support import cache
from streamjoin.synth.flow import tools

# Multiplexers become trees of two inputs, so that what moves inside a wide one is seen; a net that several modules
# name keeps one name.
_SCRIPT = """\
read_verilog design.v
hierarchy -top {top}
proc -norom
setattr -mod -unset keep_hierarchy *
flatten
opt -full
pmuxtree
opt -full
memory -nomap
opt_clean -purge
write_verilog -noattr flat.v
"""


def flatten(verilog: Verilog) -> Verilog:
    """The same design with the same ports, flat; done before, it comes from the cache."""
    script = _SCRIPT.format(top=verilog.manifest["name"])

    def build(folder: Path) -> None:
        (folder / "design.v").write_text(verilog.text)
        (folder / "script").write_text(script)
        tools.yosys(folder / "script")

    folder = cache.entry(cache.key_of("flat", verilog.text, script, tools.version("pyosys")), build)
    text = (folder / "flat.v").read_text().partition("*/\n\n")[2]
    return Verilog(text, {**verilog.manifest, "hash": hashlib.sha256(text.encode()).hexdigest()})


def register_bits(flat: Verilog) -> dict[str, int]:
    """The registers of a flat design, by their names, and how wide they are; memories are not among them."""
    widths = {}
    for line in flat.text.splitlines():
        words = line.removesuffix(";").split()
        if words[:1] != ["reg"]:
            continue
        high = int(words[1][1:].partition(":")[0]) if words[1].startswith("[") else 0
        rest = words[2:] if words[1].startswith("[") else words[1:]
        if len(rest) == 1 or rest[1] == "=":
            widths[rest[0].removeprefix("\\")] = high + 1
    return widths
