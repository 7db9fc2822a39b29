"""Registers in one block are the same clocked_blocks."""

import pytest
from amaranth.back import rtlil
from pyosys import libyosys

from streamjoin.hdl.base.pace import Pace
from streamjoin.hdl.base.tuple_layout import TupleLayout
from streamjoin.hdl.board.checksum import ResultChecksum
from streamjoin.hdl.lockstep.admission import Admission
from streamjoin.hdl.lockstep.segment import RegisterSegment
from streamjoin.reference.predicates import parse_predicate
from streamjoin.sim.verilog import clocked_blocks
from streamjoin.sim.verilog.generate import generate

LAYOUT = TupleLayout(parse_predicate("equi"), key_width=3, payload_width=2)
PARTS = {
    "admission": lambda: Admission(
        LAYOUT, Pace(4, 4, 6), on_full="drop", drain_stream="s", drain_steps=5, start=2, settle=3, glance=3
    ),
    "segment": lambda: RegisterSegment(LAYOUT, 4),
    "checksum": lambda: ResultChecksum(LAYOUT.result),
}

MODULE = r"""module m(clk, rst, a, o);
  reg \$start$1  = 0;
  reg [1:0] \$1 ;
  reg \$2 ;
  reg \$3 ;
  reg \$4 ;
  reg \$5 ;
  reg [1:0] ending = 2'h0;
  always @(posedge clk)
    ending <= \$1 ;
  always @(posedge clk)
    \odd$name  <= \$2 ;
  always @(posedge clk)
    plain <= a;
  always @(posedge clk)
    seen <= \$3 ;
  always @(posedge other)
    elsewhere <= \$4 ;
  always @(posedge clk)
    apart <= \$5 ;
  assign o = \$3 ;
  always @* begin
    if (\$start$1 ) begin end
    \$1  = ending;
    if (a) begin
      \$1 [0] = 1'h1;
    end else if (b) begin
      \$1 [1] = 1'h1;
    end
    if (rst) begin
      \$1  = 2'h0;
    end
  end
  always @* begin
    if (\$start$1 ) begin end
    \$2  = \odd$name ;
    if (a) begin
      \$2  = 1'h0;
    end else if (b) begin
      \$2  = c;
    end
    if (rst) begin
      \$2  = 1'h1;
    end
  end
  always @* begin
    if (\$start$1 ) begin end
    \$3  = seen;
    if (a) begin
      \$3  = 1'h1;
    end
  end
  always @* begin
    if (\$start$1 ) begin end
    \$4  = plain;
    casez (x)
      2'h1:
          \$4  = 1'h1;
      default:
          \$4  = 1'h0;
    endcase
  end
  always @* begin
    if (\$start$1 ) begin end
    \$5  = 1'h0;
    casez (x)
      2'h1:
          begin
            \$5  = 1'h1;
            if (a) begin
              \$5  = 1'h0;
            end
          end
    endcase
  end
endmodule
"""

IN_ONE_BLOCK = r"""module m(clk, rst, a, o);
  reg \$start$1  = 0;
  reg \$3 ;
  reg [1:0] ending = 2'h0;
  always @(posedge clk) begin
    plain <= a;
    seen <= \$3 ;
    if (a) begin
      ending[0] <= 1'h1;
      \odd$name  <= 1'h0;
    end else if (b) begin
      ending[1] <= 1'h1;
      \odd$name  <= c;
    end
    if (rst) begin
      ending <= 2'h0;
      \odd$name  <= 1'h1;
    end
  end
  always @(posedge other) begin
    elsewhere <= plain;
    casez (x)
      2'h1:
        begin
          elsewhere <= 1'h1;
        end
      default:
        begin
          elsewhere <= 1'h0;
        end
    endcase
  end
  always @(posedge clk) begin
    apart <= 1'h0;
    casez (x)
      2'h1:
        begin
          apart <= 1'h1;
          if (a) begin
            apart <= 1'h0;
          end
        end
    endcase
  end
  assign o = \$3 ;
  always @* begin
    if (\$start$1 ) begin end
    \$3  = seen;
    if (a) begin
      \$3  = 1'h1;
    end
  end
endmodule
"""


def test_conditions_are_shared_and_what_others_read_stays():
    assert clocked_blocks.in_one_block(MODULE) == IN_ONE_BLOCK


def test_choices_with_different_arms_stay_apart():
    same, other = [("2'h1", "1'h0"), ("2'h2", "1'h1")], [("2'h1", "1'h0"), ("2'h3", "1'h1")]
    for second, choices in ((same, 1), (same[:1], 1), (other, 2)):
        updates, values = zip(_register("a", r"\$1 ", same), _register("b", r"\$2 ", second), strict=True)
        module = "".join([*updates, *values, "endmodule\n"])
        assert clocked_blocks.in_one_block(module).count("casez") == choices


def _register(name, following, arms):
    lines = "".join(f"      {label}:\n          {following} = {number};\n" for label, number in arms)
    update = f"  always @(posedge clk)\n    {name} <= {following};\n"
    choice = f"    casez (x)\n{lines}    endcase\n"
    return update, f"  always @* begin\n    {following} = {name};\n{choice}  end\n  reg {following};\n"


@pytest.mark.parametrize("part", PARTS)
def test_the_hardware_is_proven_to_be_the_same(part, tmp_path):
    """Yosys compares what Amaranth made with what we write, register by register."""
    (tmp_path / "made.il").write_text(rtlil.convert(PARTS[part](), name="part", emit_src=False))
    (tmp_path / "written.v").write_text(generate(PARTS[part](), "part").text)
    yosys = libyosys.Design()
    for command in (
        f"read_rtlil {tmp_path}/made.il",
        "proc",
        "flatten",
        "rename part made",
        "design -stash made",
        f"read_verilog {tmp_path}/written.v",
        "proc",
        "flatten",
        "rename part written",
        "design -copy-from made made",
        "equiv_make made written equal",
        "hierarchy -top equal",
        "equiv_simple",
        "equiv_induct",
        "equiv_status",
    ):
        yosys.run_pass(f"tee -q -o {tmp_path}/said.txt {command}")
    assert "Equivalence successfully proven" in (tmp_path / "said.txt").read_text()
