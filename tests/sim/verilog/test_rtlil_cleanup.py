"""Tidying takes away names, never hardware."""

import re

import pytest

from streamjoin.hdl.registry import find
from streamjoin.sim.run.simulate import design_verilog
from streamjoin.sim.verilog import rtlil_cleanup

MODULE = r"""attribute \top 1
module \m

  wire width 1 \alias

  attribute \init 4'0000
  wire width 4 \count

  attribute \init 4'0000
  wire width 4 \also_count

  wire width 1 \used

  wire width 1 output 0  \o

  wire width 1 input 1  \i

  wire width 1 input 2  \clk

  cell \part \alias$2
    connect \alias \used [0]
    connect \q \count
  end

connect \alias \i [0]
connect \also_count \count [3:0]
connect \used \i [0]
connect \o \count [0]

end
"""


def test_only_what_nothing_uses_goes():
    tidied = rtlil_cleanup.without_aliases(MODULE)
    assert re.findall(r"wire .*\\(\w+)", tidied) == ["count", "used", "o", "i", "clk"]
    assert re.findall(r"^connect \\(\w+)", tidied, re.MULTILINE) == ["used", "o"]
    assert tidied.count("attribute") == 2
    assert r"connect \alias \used [0]" in tidied, "the port of a cell is no wire"


def test_ports_from_one_up_in_their_order():
    renumbered = rtlil_cleanup.with_ports_in_order(MODULE, ["clk", "o"])
    assert re.findall(r"(?:input|output) (\d+) \\(\w+)", renumbered) == [("2", "o"), ("3", "i"), ("1", "clk")]


@pytest.mark.parametrize("aliases", [False, True])
def test_ports_stand_in_the_order_of_the_manifest(aliases):
    design = find("handshake")
    verilog = design_verilog(design, design.parameters(cores=2, window=4), aliases=aliases)
    header = verilog.text.partition("module handshake(")[2].partition(");")[0]
    assert header.split(", ") == [port["name"] for port in verilog.manifest["ports"]]
    assert header.startswith("clk, rst, i_r__payload, i_r__valid, i_r__ready")
    # In waves the fields of structures have names of their own.
    assert (r"\i_r__payload.key " in verilog.text) == aliases


EMPTY = r"""module \m

  wire width 0 input 1  \address

  attribute \init 0'
  wire width 0 \row

  wire width 4 input 2  \a

  wire width 4 output 3  \o

  cell $and $1
    parameter \A_WIDTH 0
    parameter \Y_WIDTH 0
    connect \A {  }
    connect \Y $2
  end

  cell $eq $3
    parameter \A_WIDTH 4
    parameter \B_WIDTH 0
    parameter \Y_WIDTH 1
    connect \A \a
    connect \B {  }
    connect \Y \o
  end

  cell \part \inner
    connect \address {  }
    connect \a \a
  end

connect \row {  }

end
"""


def test_what_has_no_bits_goes_with_all_that_touches_it():
    """Verilog would make two bits of it. An operand of no bits is a zero, and stays."""
    tidied = rtlil_cleanup.without_empty_wires(EMPTY)
    assert re.findall(r"wire .*\\(\w+)", tidied) == ["a", "o"]
    assert re.findall(r"cell (\S+)", tidied) == ["$eq", "\\part"]
    assert re.findall(r"connect (\S+) \{", tidied) == ["\\B"]
