"""Put a design that tests itself on a board: a project for its tools, and a bitstream where they are here."""

import argparse
from pathlib import Path

from streamjoin.cli import completion
from streamjoin.cli.arguments import add_design, read_design, whole
from streamjoin.cli.progress import note
from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.board.self_test import SelfTest
from streamjoin.sim.verilog.generate import generate
from streamjoin.synth.board.boards import boards, find_board
from streamjoin.synth.board.project import write_project

_MODULE = "streamjoin_self_test"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--list", action="store_true", help="list all boards: name, device, clock, lights, toolchains")
    board = parser.add_argument("board", nargs="?", metavar="BOARD", help="a board's name; --list lists them")
    completion.completed(board, completion.boards)
    add_design(parser, required=False)
    parser.add_argument("-o", dest="output", type=Path, metavar="DIR", help="the project's folder")
    parser.add_argument("--toolchain", metavar="T", help="other than the board's usual one")
    parser.add_argument(
        "--build",
        action=argparse.BooleanOptionalAction,
        help="run the tools, too; by default where all of them are found",
    )
    parser.add_argument("--tuples", type=whole(2), default=100_000, metavar="N", help="tuples to join on the board")
    parser.add_argument("--seed", type=whole(0), default=1, metavar="K")


def run(arguments: argparse.Namespace) -> int:
    if arguments.list:
        return _list()
    if not (arguments.board and arguments.design and arguments.output):
        raise ParameterError("give a BOARD, a DESIGN and -o DIR, or --list to see the boards")
    board = find_board(arguments.board)
    board.check()
    board.platform(arguments.toolchain)  # refuses what there is not before any work is done
    design, parameters = read_design(arguments)
    with note(f"making a self-test of {design.name}"):
        test = SelfTest(design.component(parameters), parameters, tuples=arguments.tuples, seed=arguments.seed)
        count, total = test.expected
        facts = {"tuples": test.tuples, "seed": arguments.seed, "results": count, "checksum": f"{total:08x}"}
        about = {"design": design.name, "parameters": parameters.as_dict(), "self_test": facts}
        verilog = generate(test, _MODULE, about=about)
    with note(f"writing a project for {board.name}, and building it where its tools are"):
        project = write_project(board, verilog, arguments.output, toolchain=arguments.toolchain, build=arguments.build)
    print(f"{project.folder}: {len(project.files)} files for {project.toolchain} and {board.name} ({board.device})")
    print(f"  self-test: {test.tuples} tuples, {count} results expected, checksum {total:08x}")
    print(f"  lights: {project.lights}")
    if project.build_seconds is not None:
        clock = f", {project.fmax_mhz:.1f} MHz for a clock of {board.clock_mhz:g}" if project.fmax_mhz else ""
        print(f"  built in {project.build_seconds:.0f} s{clock}: {', '.join(project.bitstreams)}")
    else:
        why = f"{project.missing[0]} was not found" if project.missing else "--no-build"
        print(f"  not built ({why}): run sh build_streamjoin.sh there, where the tools are")
    return 0


def _list() -> int:
    for board in boards().values():
        clock = "no clock" if board.clock_mhz is None else f"{board.clock_mhz:g} MHz"
        lights = {None: "no lights", "one": "1 light", "three": "3 lights", "colour": "colours"}[board.lights]
        print(f"{board.name:28}{board.device:18}{clock:14}{lights:11}{', '.join(board.toolchains)}")
    return 0
