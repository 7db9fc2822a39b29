"""Fingerprints see what hardware does, and no names; records are held against what is now."""

import copy
import re

import pytest
from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from streamjoin.sim.verilog.generate import generate
from tests import same_hardware
from tests.fingerprint import Fingerprint, fingerprint


class Stage(wiring.Component):
    """A register behind some logic; what is given differs in one thing from the plain one."""

    def __init__(self, width: int = 4, *, gate: str = "and", init: int = 1, step: int = 3, names: str = "x"):
        super().__init__({"a": In(width), "b": In(width), "o": Out(width)})
        self._gate, self._init, self._step, self._names = gate, init, step, names

    def elaborate(self, _):
        m = Module()
        held = Signal(len(self.o), init=self._init, name=f"{self._names}_held")
        both = Signal(len(self.o), name=f"{self._names}_both")
        m.d.comb += both.eq(self.a & self.b if self._gate == "and" else self.a | self.b)
        with m.If(self.a[0]):
            m.d.sync += held.eq(both + self._step)
        with m.Elif(self.b[0]):
            m.d.sync += held.eq(held ^ both)
        m.d.comb += self.o.eq(held)
        return m


class Two(wiring.Component):
    """Two stages in a row and a memory with two read ports; ``swapped`` exchanges wires between the stages."""

    a: In(4)
    b: In(4)
    o: Out(4)
    read: Out(8)

    def __init__(self, *, names: str = "x", swapped: bool = False, **last):
        self._names, self._swapped, self._last = names, swapped, last
        super().__init__()

    def elaborate(self, _):
        m = Module()
        m.submodules[f"{self._names}_first"] = first = Stage(names=self._names)
        m.submodules[f"{self._names}_last"] = last = Stage(names=self._names, **self._last)
        m.submodules[f"{self._names}_memory"] = ram = memory.Memory(shape=4, depth=16, init=[])
        write, reads = ram.write_port(), [ram.read_port(domain="comb") for _ in range(2)]
        wires = [first.o[n] for n in ((1, 0, 2, 3) if self._swapped else range(4))]
        m.d.comb += [
            first.a.eq(self.a),
            first.b.eq(self.b),
            last.a.eq(Cat(wires)),
            last.b.eq(self.b),
            self.o.eq(last.o),
            write.addr.eq(self.a),
            write.data.eq(last.o),
            write.en.eq(self.b[1]),
            reads[0].addr.eq(self.b),
            reads[1].addr.eq(first.o),
            self.read.eq(Cat(port.data for port in reads)),
        ]
        return m


def of(component: wiring.Component) -> Fingerprint:
    return fingerprint(generate(component, "top").text, "top")


PLAIN = of(Two())


def test_names_of_signals_and_submodules_do_not_count():
    for names in ("another", "zz", "a"):
        assert of(Two(names=names)) == PLAIN


def test_nor_do_names_of_modules_in_the_text():
    text = generate(Two(), "top").text
    renamed = re.sub(r"\btop_", "elsewhere_", text)
    assert renamed != text
    assert fingerprint(renamed, "top") == PLAIN


@pytest.mark.parametrize(
    "change",
    [{"gate": "or"}, {"init": 3}, {"step": 5}, {"swapped": True}],
    ids="".join,
)
def test_one_change_deep_inside_is_seen(change):
    changed = of(Two(**change))
    assert changed.behaviour != PLAIN.behaviour
    assert changed.structure != PLAIN.structure


def test_another_width_is_seen():
    assert of(Stage(5)).behaviour != of(Stage(4)).behaviour


def test_ports_have_names():
    text = generate(Two(), "top").text
    renamed = re.sub(r"\bb\b", "c", text)
    assert fingerprint(renamed, "top").behaviour != PLAIN.behaviour


def of_text(body: str, inputs: str = "clk, a", output: str = "o") -> Fingerprint:
    return fingerprint(f"module top(input {inputs}, output {output});\n{body}\nendmodule\n", "top")


def test_how_bits_are_grouped_into_words_does_not_count():
    words = of_text("reg [3:0] q = 4'd5; always @(posedge clk) if (a) q <= ~q; assign o = q;", output="[3:0] o")
    halves = of_text(
        "reg [1:0] q = 2'd1, p = 2'd1; always @(posedge clk) if (a) q <= ~q; always @(posedge clk) if (a) p <= ~p;"
        "assign o = {p, q};",
        output="[3:0] o",
    )
    assert halves == words


def test_a_difference_is_seen_from_far_away():
    shorter, longer = (
        of_text(f"reg [{last}:0] q = 0; always @(posedge clk) q <= {{q, a}}; assign o = q[{last}];")
        for last in (99, 100)
    )
    assert shorter.behaviour != longer.behaviour


def test_the_order_of_read_ports_does_not_count():
    kept = "reg [3:0] m [0:3]; always @(posedge clk) if (a) m[b] <= c; wire [3:0] p, q; assign o = {p, q};"
    reads = ["assign p = m[b];", "assign q = m[c];"]
    one, other, crossed = (
        of_text(kept + "".join(ports), "clk, a, input [1:0] b, input [1:0] c", "[7:0] o")
        for ports in (reads, reads[::-1], ["assign q = m[b];", "assign p = m[c];"])
    )
    assert one == other
    assert one.behaviour != crossed.behaviour


def test_a_second_register_that_does_the_same_is_other_structure():
    one = of_text("reg q = 0; always @(posedge clk) q <= a; assign o = {q, q};", output="[1:0] o")
    two = of_text("reg p = 0, q = 0; always @(posedge clk) {p, q} <= {a, a}; assign o = {p, q};", output="[1:0] o")
    assert two.behaviour == one.behaviour
    assert two.structure != one.structure
    assert (one.counts["$dff"], two.counts["$dff"]) == (1, 2)


@pytest.mark.parametrize(("turned", "alike"), [("", True), ("~", False)])
def test_rings_of_equal_registers(turned, alike):
    """Where all hold the same for ever, three are as good as six; not where what comes round is turned over."""
    three, six = (
        of_text(f"reg [{last}:0] q = 0; always @(posedge clk) q <= {{q, {turned}q[{last}]}}; assign o = q[0];")
        for last in (2, 5)
    )
    assert (three.behaviour == six.behaviour) is alike
    assert three.structure != six.structure


def test_start_values_count_without_a_reset():
    zero, one = (of_text(f"reg q = {start}; always @(posedge clk) if (a) q <= ~q; assign o = q;") for start in (0, 1))
    assert zero.behaviour != one.behaviour


def test_what_reaches_no_output_is_structure():
    plain = "reg q = 0; always @(posedge clk) q <= a; assign o = q;"
    up, down = (of_text(f"{plain} (* keep *) reg s = 0; always @(posedge clk) s <= s {step} a;") for step in "|^")
    assert up.behaviour == down.behaviour == of_text(plain).behaviour
    assert up.structure != down.structure


def test_marks_for_synthesis_are_structure():
    plain = "reg q = 0; always @(posedge clk) q <= a; assign o = q;"
    marked = of_text(f"(* dont_merge = 1 *) {plain}")
    assert marked.behaviour == of_text(plain).behaviour
    assert marked.structure != of_text(plain).structure
    assert marked.counts["dont_merge=1"] == 1


def test_logic_that_reads_itself_by_words():
    """Bit 1 of a sum reads bit 0: no loop in truth, but one among cells."""
    one, other = (of_text(f"wire [1:0] s = {{s[0], a}} + 2'd{step}; assign o = s[1];", inputs="a") for step in (1, 2))
    assert one.behaviour != other.behaviour


def test_ports_that_go_both_ways_are_refused():
    with pytest.raises(ValueError, match="port b goes both ways: give each direction a port of its own"):
        of_text("assign o = b;", inputs="a, inout b")


@pytest.fixture(scope="module")
def before():
    return same_hardware.record(["netlists"], {"nested-loop"}.__contains__)


class TestRecords:
    def test_nothing_changed(self, before, capsys):
        assert same_hardware.compare(before, ["netlists"], lambda _: True)
        assert capsys.readouterr().out.splitlines() == [
            "netlists: nested-loop: same structure",
            "netlists: 1 same structure",
        ]

    @pytest.mark.parametrize(
        ("changed", "verdict", "good"),
        [
            (["structure"], "same behaviour, other structure: $mux 1 -> ", True),
            (["structure", "behaviour"], "DIFFERENT: $mux 1 -> ", False),
        ],
    )
    def test_something_did(self, before, capsys, changed, verdict, good):
        other = copy.deepcopy(before)
        found = other["netlists"]["nested-loop"]["found"]
        found |= dict.fromkeys(changed, "0" * 32)
        found["counts"]["$mux"] = 1
        assert same_hardware.compare(other, ["netlists"], lambda _: True) is good
        assert capsys.readouterr().out.startswith(f"netlists: nested-loop: {verdict}")

    def test_a_set_that_cannot_be_made_is_different(self, before, capsys):
        other = copy.deepcopy(before)
        other["netlists"]["nested-loop"]["set"] = same_hardware.Set("nested-loop", "shelves=3")
        assert not same_hardware.compare(other, ["netlists"], lambda _: True)
        assert "DIFFERENT: it cannot be made any more, ParameterError" in capsys.readouterr().out

    def test_comparing_nothing_is_no_success(self, before):
        assert not same_hardware.compare(before, ["netlists"], lambda _: False)

    def test_cycles(self):
        runs = {"full speed": {"cycles": 5, "sha256": "a"}, "stalls": {"cycles": 9, "sha256": "b"}}
        assert same_hardware.compare_cycles(runs, copy.deepcopy(runs)) == "same cycles"
        late = runs | {"stalls": {"cycles": 10, "sha256": "b"}}
        assert same_hardware.compare_cycles(runs, late) == "DIFFERENT: stalls: cycles 9 -> 10"
