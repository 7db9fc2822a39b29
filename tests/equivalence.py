"""``python -m tests.equivalence CHECKOUT``: proves that designs do what they did in another checkout, each cycle.

Where parts were cut differently netlists differ, although they do the same, and :mod:`tests.fingerprint` cannot tell.
Here both get the same inputs, whatever these are, and a flag goes up if any outputs differ. ABC's signal correspondence
finds, by induction over cycles, which nodes of the two always carry the same value; the proof is there if nothing but a
constant 0 is left of the flag. Otherwise nothing is known. Both begin with the start values of their registers and with
memories full of zeros.

Instances of one name whose modules have the same fingerprint stay outside: what they give becomes an input of both,
what they are given an output of both. If these agree in each cycle, whatever the instances give, then the instances,
which do the same with the same inputs, give the same, cycle by cycle from the start; so the wholes agree. Thus what is
left to prove is small, at any size of the design.

Ports inside that have another name now are told by ``--renamed before=after``, for the parts of names between ``__``.

Of the sets of parameters in :mod:`tests.same_hardware` those are proved whose netlists differ; of a self-test, the join
in it is. CHECKOUT has an environment of its own in ``.venv``, as ``make setup`` leaves it.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pyosys
from pyosys import libyosys
from tqdm import tqdm

from tests.fingerprint import fingerprint
from tests.same_hardware import HALVES, Set

TOP = "whole"
_SETS = HALVES["netlists"].sets
_ABC = Path(pyosys.__file__).parent / "yosys-abc"
# Memories become registers.
_REGISTERS = ("memory_collect", "memory_map", "setundef -init -zero", "opt_clean")
# Both side by side as registers and AND gates; the only output is the flag.
_MITER = (
    "miter -equiv -flatten before after miter",
    "hierarchy -top miter",
    "opt -nodffe -nosdff",
    "dffunmap",
    "techmap",
    "opt -nodffe -nosdff",
    "dffunmap",
    "simplemap",
    "abc -g AND",
    "opt_clean -purge",
    "setundef -zero -undriven",
)


def proved_equal(before: str, after: str, top: str) -> bool:
    """Whether two Verilog texts, in each of which ``top`` has the same ports, are proved to do the same."""
    kinds = [_behaviours(text, top) for text in (before, after)]
    outside = set(kinds[0].values()) & set(kinds[1].values())
    while True:
        flat = [_flat(text, top, kind, outside) for text, kind in zip((before, after), kinds, strict=True)]
        found = [_instances(design, kind, outside) for design, kind in zip(flat, kinds, strict=True)]
        alone = {kind for _, kind in found[0].items() ^ found[1].items()}
        if not alone:
            return _same(flat, _modules(kinds, outside), top)
        outside -= alone


def _same(designs: list[libyosys.Design], outside: list[list[str]], top: str) -> bool:
    both = libyosys.Design()
    with tempfile.TemporaryDirectory() as folder:
        source, circuit, left = (Path(folder, name) for name in ("source.il", "miter.aig", "left.aig"))
        for name, design, modules in zip(("before", "after"), designs, outside, strict=True):
            _run(design, *(f"expose -evert {top}/t:{module}" for module in modules))
            _run(design, *(f"delete {module}" for module in modules), *_REGISTERS, f"rename {top} {name}")
            _run(design, f'write_rtlil "{source}"')
            _run(both, f'read_rtlil "{source}"')
        _run(both, *_MITER, f'write_aiger -zinit "{circuit}"')
        commands = f'read_aiger "{circuit}"; scorr; write_aiger "{left}"'
        subprocess.run([_ABC, "-c", commands], check=True, stdout=subprocess.DEVNULL)
        # After a line with its sizes, the file says what drives the flag; 0 is the constant.
        return left.read_bytes().split(b"\n", 2)[1] == b"0"


def _behaviours(text: str, top: str) -> dict[str, str]:
    """What each module but the top does."""
    modules = re.findall(r"^module (\w+)", text, re.MULTILINE)
    return {module: fingerprint(text, module).behaviour for module in modules if module != top}


def _modules(kinds: list[dict[str, str]], outside: set[str]) -> list[list[str]]:
    return [[module for module, kind in side.items() if kind in outside] for side in kinds]


def _flat(text: str, top: str, kinds: dict[str, str], outside: set[str]) -> libyosys.Design:
    """The top without hierarchy but for the instances that stay outside."""
    design = libyosys.Design()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source.v")
        source.write_text(text, encoding="utf-8")
        _run(design, f'read_verilog "{source}"')
    _run(design, f"hierarchy -check -top {top}", "proc", "setattr -mod -unset keep_hierarchy *")
    _run(design, *(f"setattr -mod -set keep_hierarchy 1 {module}" for module in _modules([kinds], outside)[0]))
    _run(design, "flatten", f"hierarchy -top {top}")
    return design


def _instances(design: libyosys.Design, kinds: dict[str, str], outside: set[str]) -> dict[str, str]:
    """What the instances in the top that stay outside do."""
    cells = {str(cell.name): kinds.get(str(cell.type).lstrip("\\")) for cell in design.top_module().cells_.values()}
    return {name: kind for name, kind in cells.items() if kind in outside}


def _run(design: libyosys.Design, *commands: str) -> None:
    for command in commands:
        design.run_pass(f"tee -q {command}")


def verilog(checkout: Path, of: Set) -> str:
    """One set of parameters as a checkout writes it."""
    words = [part for word in of.words.split() for part in ("-p", word)]
    words += ["--axi"] * (of.top == "axi")
    command = [checkout / ".venv/bin/streamjoin", "verilog", of.design, *words, "-o", "-", "--name", TOP]
    return subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.equivalence", description=__doc__)
    parser.add_argument("checkout", type=Path, metavar="CHECKOUT", help="where the designs are as they were")
    parser.add_argument("--only", nargs="+", choices=_SETS, metavar="NAME", default=list(_SETS))
    parser.add_argument("--renamed", nargs="+", metavar="BEFORE=AFTER", default=[], help="parts of ports' names")
    arguments = parser.parse_args()
    here, verdicts = Path(__file__).parents[1], []
    for name in tqdm(arguments.only, unit=" sets", disable=None):
        before, after = (verilog(checkout.absolute(), _SETS[name]) for checkout in (arguments.checkout, here))
        for word, now in (each.split("=") for each in arguments.renamed):
            before = re.sub(f"__{word}__", f"__{now}__", before)
        if fingerprint(before, TOP).behaviour == fingerprint(after, TOP).behaviour:
            verdicts.append("same netlist")
        else:
            verdicts.append("proved equal" if proved_equal(before, after, TOP) else "NOT PROVED")
        tqdm.write(f"{name}: {verdicts[-1]}")
    tqdm.write(", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in sorted(set(verdicts))))
    return 0 if verdicts and "NOT PROVED" not in verdicts else 1


if __name__ == "__main__":
    sys.exit(main())
