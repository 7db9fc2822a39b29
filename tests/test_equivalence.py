"""A proof is found where two netlists do the same in other words, and none where they do not."""

import pytest

from tests.equivalence import proved_equal

PORTS = "module top(input clk, input rst, input a, input b, output [3:0] o);"
# Counts the cycles in which both inputs are up.
PLAIN = f"""{PORTS}
reg [3:0] count = 0; assign o = count;
always @(posedge clk) if (rst) count <= 0; else if (a & b) count <= count + 1;
endmodule
"""
# The register stands in a module of its own, and what it adds is known before the clock and after a reset alike.
CUT = f"""module counter(input clk, input clear, input up, output reg [3:0] count = 0);
wire [3:0] next = up ? count + 1 : count;
always @(posedge clk) count <= clear ? 4'd0 : next;
endmodule
{PORTS}
wire either = a | b; wire one = a ^ b;
counter inner(.clk(clk), .clear(rst), .up(either & ~one), .count(o));
endmodule
"""
# Written to a memory and read from there.
THROUGH_MEMORY = """module top(input clk, input [1:0] to, input [1:0] from, input a, output reg o = 0);
reg memory [3:0];
always @(posedge clk) begin memory[to] <= a; o <= memory[from]; end
endmodule
"""

# A part that is the same on both sides stands between two that are not; the loop through it is of registers.
AROUND = """module kept(input clk, input [3:0] i, output reg [3:0] o = 0);
always @(posedge clk) o <= i ^ {{o[2:0], o[3]}};
endmodule
module top(input clk, input [3:0] a, output [3:0] o);
wire [3:0] inner, back;
assign inner = {into};
kept {name}(.clk(clk), .i(inner), .o(back));
assign o = {out};
endmodule
"""


def test_other_words_and_other_parts_are_proved_equal():
    assert proved_equal(PLAIN, CUT, "top")
    assert proved_equal(THROUGH_MEMORY, THROUGH_MEMORY.replace("memory", "store"), "top")


@pytest.mark.parametrize(
    ("said", "instead"),
    [
        ("a ^ b", "a"),
        ("count + 1", "count + 2"),
        ("clear ? 4'd0", "clear ? 4'd8"),
        ("reg [3:0] count = 0", "reg [3:0] count = 1"),
    ],
)
def test_what_differs_is_not(said, instead):
    assert said in CUT
    assert not proved_equal(PLAIN, CUT.replace(said, instead), "top")


def test_another_place_in_a_memory_is_not():
    assert not proved_equal(THROUGH_MEMORY, THROUGH_MEMORY.replace("memory[from]", "memory[to]"), "top")


@pytest.mark.parametrize(
    ("into", "out", "name", "equal"),
    [
        ("~(~a & ~back)", "back + 2 + 1", "part", True),
        ("~(~a & ~back)", "back + 2", "part", False),
        ("a & back", "back + 3", "part", False),
        ("~(~a & ~back)", "back + 2 + 1", "elsewhere", True),  # instances of other names are part of the proof
    ],
)
def test_what_stands_around_a_common_part_is_proved(into, out, name, equal):
    plain = AROUND.format(into="a | back", out="back + 3", name="part")
    assert proved_equal(plain, AROUND.format(into=into, out=out, name=name), "top") == equal


def test_a_part_that_differs_is_no_common_part():
    plain = AROUND.format(into="a | back", out="back + 3", name="part")
    assert not proved_equal(plain, plain.replace("o <= i ^", "o <= i |"), "top")
