"""Combinational blocks run once at the start, by the rules of Verilog and of SystemVerilog."""

import re

import pytest

from streamjoin.hdl.registry import find
from streamjoin.sim.run.simulate import design_verilog
from streamjoin.sim.verilog.combinational import started
from tests.sim.small_designs import DESIGNS, SMALL

BLOCK = re.compile(r"^  always @\*(.*\n.*\n)", re.MULTILINE)
TRIGGERED = " begin\n    if (\\$start ) begin end\n"

MODULE = r"""module m(a, b, o,
  p);
  reg \$auto$1  = 0;
  input a;
  output o;
  reg [3:0] mixed;
  reg [3:0] plain;
  reg \odd$name ;
  always @*
    mixed[3:2] = 2'h0;
  always @* begin
    if (\$auto$1 ) begin end
    mixed[1:0] = 2'h1;
    if (a) begin
      mixed[0] = b;
    end
  end
  always @*
    plain[3:2] = 2'h0;
  always @*
    plain[1:0] = { a, b };
  always @*
    \odd$name  = 1'h1;
endmodule
"""


def test_blocks_get_a_trigger_and_plain_assignments_none():
    assert (
        started(MODULE)
        == r"""module m(a, b, o,
  p);
  reg \$start ;
  initial \$start <= 0;
  input a;
  output o;
  reg [3:0] mixed;
  wire [3:0] plain;
  wire \odd$name ;
  always @* begin
    if (\$start ) begin end
    mixed[1:0] = 2'h1;
    if (a) begin
      mixed[0] = b;
    end
  end
  always @* begin
    if (\$start ) begin end
    mixed[3:2] = 2'h0;
  end
  assign plain[3:2] = 2'h0;
  assign plain[1:0] = { a, b };
  assign \odd$name  = 1'h1;
endmodule
"""
    )


def test_a_module_without_blocks_gets_no_trigger():
    module = "module m(a, o);\n  assign o = a;\nendmodule\n"
    assert started(module) == module


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_every_block_of_every_design(name):
    """By structure, for whoever has no four-state simulator: each reads a trigger that changes after the start."""
    design, given = DESIGNS[name]
    text = design_verilog(find(design), find(design).parameters(**SMALL | given)).text
    blocks = BLOCK.findall(text)
    assert blocks
    assert set(blocks) == {TRIGGERED}
    for module in text.split("endmodule\n"):
        assert (TRIGGERED in module) == ("  reg \\$start ;\n  initial \\$start <= 0;\n" in module)
