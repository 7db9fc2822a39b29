"""A board's netlist after synthesis, simulated from power-on until one of its lights gives the verdict."""

import re
from importlib.resources import files
from pathlib import Path

from pyosys import libyosys

from streamjoin.support.toolchain import run_tool

_BENCH = """`timescale 1ns/1ps
module SGSR(input GSR, input CLK); endmodule
module bench;
  reg clock = 0;
  wire pin = clock;
  wire button = 0;
  wire running, passed, failed;
  integer cycles = 0;
  streamjoin top(
    .clk25_0__io(pin), .button_0__io(button), .led_0__io(running), .led_1__io(passed), .led_2__io(failed)
  );
  always #20 clock = ~clock;
  always @(posedge clock) begin
    cycles = cycles + 1;
    if (passed === 1 || failed === 1 || cycles > 20000) begin
      $display("passed %b failed %b", passed, failed);
      $finish;
    end
  end
endmodule
"""


def verdict_of_ulx3s(project: Path, folder: Path) -> str:
    """What the lights say, as ``passed 1 failed 0``; the netlist is that of a ULX3S, the simulator Icarus."""
    netlist = folder / "netlist.v"
    design = libyosys.Design()
    for command in (
        f"read_json {project}/streamjoin.json",
        "delete */t:$scopeinfo",
        f"write_verilog -noattr {netlist}",
    ):
        design.run_pass(f"tee -q {command}")
    # Icarus cannot read the one statement of the cells' models that is not for simulation.
    models = Path(str(files("pyosys"))) / "share" / "ecp5"
    for name in ("cells_sim.v", "common_sim.vh", "ccu2c_sim.vh"):
        (folder / name).write_text(re.sub(r".*\$error.*\n", "", (models / name).read_text()))
    (folder / "bench.v").write_text(_BENCH)
    sources = [folder / "bench.v", netlist, folder / "cells_sim.v"]
    run_tool(["iverilog", "-g2012", "-DNO_INCLUDES", "-I", folder, "-o", folder / "bench", *sources])
    return run_tool(["vvp", "-n", folder / "bench"]).strip()
