"""Write a design as Verilog, with its manifest beside it."""

import argparse

from streamjoin.cli.arguments import add_design, file_of, read_design
from streamjoin.cli.progress import note
from streamjoin.sim.simulate import design_verilog


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_design(parser)
    parser.add_argument("-o", dest="output", type=file_of(".v"), required=True, metavar="FILE.v")


def run(arguments: argparse.Namespace) -> int:
    design, parameters = read_design(arguments)
    with note(f"elaborating {design.name}"):
        verilog = design_verilog(design, parameters)
    verilog.write(arguments.output)
    modules = verilog.text.count("\nmodule ")
    print(f"{arguments.output}: {modules} modules, {len(verilog.text.splitlines())} lines")
    print(f"{arguments.output.with_suffix('.json')}: its manifest")
    return 0
