"""Each kind of part stands once in the Verilog, whatever the number of cores."""

import re
import subprocess
import sys

import pytest
from amaranth.hdl import Module
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from streamjoin.hdl.registry import find
from streamjoin.sim.run.simulate import design_verilog
from streamjoin.sim.verilog.generate import generate


def modules(**given) -> list[str]:
    design = find("handshake")
    return re.findall(r"^module (\S+?)\(", design_verilog(design, design.parameters(**given)).text, re.MULTILINE)


def test_the_number_of_modules_does_not_depend_on_the_number_of_cores():
    assert len(modules(cores=9, window=18)) == len(modules(cores=5, window=10))


def test_cores_of_different_sizes_are_kept_apart():
    names = modules(cores=3, window_r=4, window_s=6)
    assert "handshake_parallel_core" in names
    assert "handshake_parallel_core_2" in names
    assert len(names) == len(set(names))


def test_names_need_no_escaping():
    assert all(re.fullmatch(r"handshake\w*", name) for name in modules(cores=3, window=6, scan="sequential"))


@pytest.mark.parametrize(
    ("name", "given"), [("bisort", {"bandwidth": 9, "batch": 4}), ("handshake", {"cores": 2}), ("circular", {})]
)
@pytest.mark.parametrize("axi", [False, True])
def test_all_names_begin_with_that_of_the_top(name, given, axi):
    """So that two joins fit into one project."""
    design = find(name)
    text = design_verilog(design, design.parameters(**{"window": 8} | given), "mine", axi=axi).text
    names = re.findall(r"^module (\w+)", text, re.MULTILINE)
    assert "mine" in names
    assert all(name == "mine" or name.startswith("mine_") for name in names)
    used = set(
        re.findall(
            r"^  (?!module|input|output|wire|reg|assign|always|initial)(\w+) (?:#\(|\S+ +\()", text, re.MULTILINE
        )
    )
    assert used == set(names) - {"mine"}, "each module is there, and used"
    assert len(names) == len(set(names)) == text.count("endmodule")


@pytest.mark.parametrize("share", [True, False])
def test_memories_have_no_start_contents(share):
    """Every design is right from any; a loop of more than 5000 iterations would stop Quartus."""
    design = find("nested-loop")
    component = design.component(design.parameters(window=20, storage="memory"))
    text = generate(component, "plain", share=share).text
    assert re.search(r"^  reg \[\d+:0\] \w+ \[19:0\];$", text, re.MULTILINE)
    assert not re.search(r"^  initial (?!\\\$start <= 0;$)", text, re.MULTILINE)


class Rom(wiring.Component):
    """A memory that nobody writes."""

    addr: In(2)
    data: Out(8)

    def elaborate(self, _) -> Module:
        m = Module()
        m.submodules.words = words = memory.Memory(shape=8, depth=4, init=[3, 1, 4, 1])
        read = words.read_port(domain="comb")
        m.d.comb += [read.addr.eq(self.addr), self.data.eq(read.data)]
        return m


def test_a_rom_keeps_its_contents():
    text = generate(Rom(), "rom").text
    assert re.findall(r"words\[\d\] = 8'h(\d\d);", text) == ["03", "01", "04", "01"]


def text(name: str, given: dict) -> str:
    design = find(name)
    return design_verilog(design, design.parameters(**given)).text


def test_a_million_words_are_written_down_like_a_thousand():
    small, large = (text("nested-loop", {"window": window, "storage": "memory"}) for window in (1000, 1_000_000))
    sizes = re.compile(r"\d+'[hd][0-9a-f]+|\d+")
    assert "[999999:0]" in large
    assert sizes.sub("0", small) == sizes.sub("0", large)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "given"),
    [("llhj", {"ordered": "true"}), ("circular", {"index": "hash"}), ("stashed", {}), ("bisort", {})],
)
def test_text_does_not_grow_with_the_depth_of_memories(name, given):
    small, large = (text(name, {"window": window, **given}) for window in (1 << 16, 1 << 20))
    assert len(large) < 1.05 * len(small)


def test_a_million_words_in_a_gigabyte():
    """In a process of its own, which tells how much it took."""
    # Not by getrusage, which would count the process that it was forked from.
    main = "from pathlib import Path; from streamjoin.cli.main import main; import sys; status = main(sys.argv[1:])"
    tell = "print(status, Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0], file=sys.stderr)"
    command = ["verilog", "llhj", "-p", "ordered=true", "-p", "window=1000000", "-o", "-"]
    done = subprocess.run(
        [sys.executable, "-c", f"{main}; {tell}", *command], capture_output=True, text=True, check=True
    )
    status, kilobytes = done.stderr.split()
    assert status == "0"
    assert int(kilobytes) < 1e6
    assert done.stdout.startswith("// llhj\n")
