"""``python -m tests.equivalence CHECKOUT``: proves that small designs do what they did in another checkout, each cycle.

Where parts were cut differently netlists differ, although they do the same, and :mod:`tests.fingerprint` cannot tell.
Here both get the same inputs, whatever these are, and a flag goes up if any outputs differ. ABC's signal correspondence
finds, by induction over cycles, which nodes of the two always carry the same value; the proof is there if nothing but a
constant 0 is left of the flag. Otherwise nothing is known. Both begin with the start values of their registers and with
memories full of zeros. Tuples are narrow, since they are only carried and compared.

CHECKOUT has an environment of its own in ``.venv``, as ``make setup`` leaves it.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import pyosys
from pyosys import libyosys
from tqdm import tqdm

from tests.sim.small_designs import DESIGNS

NARROW = {"key_width": 2, "payload_width": 1, "time_width": 5}
TOP = "small_design"
_ABC = Path(pyosys.__file__).parent / "yosys-abc"
# Hierarchy goes, and memories become registers.
_FLAT = (
    "hierarchy -check -top {top}",
    "proc",
    "setattr -mod -unset keep_hierarchy *",
    "flatten",
    "hierarchy -top {top}",
    "memory_collect",
    "memory_map",
    "setundef -init -zero",
    "opt_clean",
    "rename {top} {name}",
)
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
    design = libyosys.Design()
    with tempfile.TemporaryDirectory() as folder:
        source, circuit, left = (Path(folder, name) for name in ("source.v", "miter.aig", "left.aig"))
        for name, text in (("before", before), ("after", after)):
            source.write_text(text, encoding="utf-8")
            alone = libyosys.Design()
            _run(alone, f'read_verilog "{source}"', *(command.format(top=top, name=name) for command in _FLAT))
            _run(alone, f'write_rtlil "{source}"')
            _run(design, f'read_rtlil "{source}"')
        _run(design, *_MITER, f'write_aiger -zinit "{circuit}"')
        commands = f'read_aiger "{circuit}"; scorr; write_aiger "{left}"'
        subprocess.run([_ABC, "-c", commands], check=True, stdout=subprocess.DEVNULL)
        # After a line with its sizes, the file says what drives the flag; 0 is the constant.
        return left.read_bytes().split(b"\n", 2)[1] == b"0"


def _run(design: libyosys.Design, *commands: str) -> None:
    for command in commands:
        design.run_pass(f"tee -q {command}")


def verilog(checkout: Path, name: str) -> str:
    """One of the small designs as a checkout writes it."""
    design, given = DESIGNS[name]
    given = NARROW | given
    words = [word for key, value in given.items() for word in ("-p", f"{key}={value}")]
    command = [checkout / ".venv/bin/streamjoin", "verilog", design, *words, "-o", "-", "--name", TOP]
    return subprocess.run(command, cwd=checkout, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.equivalence", description=__doc__)
    parser.add_argument("checkout", type=Path, metavar="CHECKOUT", help="where the designs are as they were")
    parser.add_argument("--only", nargs="+", choices=DESIGNS, metavar="NAME", default=list(DESIGNS))
    arguments = parser.parse_args()
    here, good = Path(__file__).parents[1], True
    for name in tqdm(arguments.only, unit=" designs", disable=None):
        proved = proved_equal(verilog(arguments.checkout.absolute(), name), verilog(here, name), TOP)
        tqdm.write(f"{name}: {'proved equal' if proved else 'NOT PROVED'}")
        good &= proved
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
