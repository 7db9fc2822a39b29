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
