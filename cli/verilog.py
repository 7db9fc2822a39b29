"""Write a design as Verilog, with its manifest beside it."""

import argparse

from streamjoin.cli.arguments import add_design, file_of, read_design
from streamjoin.cli.progress import note
from streamjoin.sim.lint import lint
from streamjoin.sim.simulate import design_verilog


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    parser.add_argument("-o", dest="output", type=file_of(".v"), required=True, metavar="FILE.v")
    parser.add_argument(
        "--axi", action="store_true", help="ports named as AXI4-Stream: aclk, aresetn, s_axis_r_tdata, …"
    )
    parser.add_argument(
        "--lint", action="store_true", help="see what Verilator, Yosys and, where installed, Icarus say of it"
    )


def run(arguments: argparse.Namespace) -> int:
    design, parameters = read_design(arguments)
    with note(f"elaborating {design.name}"):
        verilog = design_verilog(design, parameters, axi=arguments.axi)
    verilog.write(arguments.output)
    modules = verilog.text.count("\nmodule ")
    print(f"{arguments.output}: {modules} modules, {len(verilog.text.splitlines())} lines")
    print(f"{arguments.output.with_suffix('.json')}: its manifest")
    if not arguments.lint:
        return 0
    findings = lint(verilog)
    for tool, found in findings.items():
        print(f"{tool}: {len(found) or 'no'} findings")
        for finding in found:
            print(f"  {finding}")
    return 1 if any(findings.values()) else 0
