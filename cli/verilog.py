"""Write a design as Verilog, with its manifest beside it."""

import argparse
import sys
from pathlib import Path

from streamjoin.cli.arguments import add_design, file_of, read_join
from streamjoin.cli.progress import note
from streamjoin.sim.verilog.lint import lint

_SCREEN = Path("-")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    parser.add_argument(
        "-o",
        dest="output",
        type=_file_or_screen,
        required=True,
        metavar="FILE.v|-",
        help="the file, with its manifest beside it, or the Verilog alone to standard output",
    )
    parser.add_argument("--name", metavar="TOP", help="name of the top module, with which all others begin")
    parser.add_argument(
        "--axi", action="store_true", help="ports named as AXI4-Stream: aclk, aresetn, s_axis_r_tdata, …"
    )
    parser.add_argument(
        "--lint", action="store_true", help="see what Verilator, Yosys and, where installed, Icarus say of it"
    )


def run(arguments: argparse.Namespace) -> int:
    join = read_join(arguments)
    with note(f"elaborating {join.design.name}"):
        verilog = join.verilog(arguments.name, axi=arguments.axi)
    on_screen = arguments.output == _SCREEN
    if on_screen:
        sys.stdout.write(verilog.text)
    else:
        verilog.write(arguments.output)
        modules = verilog.text.count("\nmodule ")
        print(f"{arguments.output}: {modules} modules, {len(verilog.text.splitlines())} lines")
        print(f"{arguments.output.with_suffix('.json')}: its manifest")
    if not arguments.lint:
        return 0
    findings = lint(verilog, "standard output" if on_screen else str(arguments.output))
    words = sys.stderr if on_screen else sys.stdout
    for tool, found in findings.items():
        print(f"{tool}: {len(found) or 'no'} findings", file=words)
        for finding in found:
            print(f"  {finding}", file=words)
    return 1 if any(findings.values()) else 0


def _file_or_screen(text: str) -> Path:
    return _SCREEN if text == str(_SCREEN) else file_of(".v")(text)
