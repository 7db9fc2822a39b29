"""Each kind of part stands once in the Verilog, whatever the number of cores."""

import re

from streamjoin.hdl.registry import find
from streamjoin.sim.simulate import design_verilog


def modules(**given) -> list[str]:
    design = find("handshake")
    return re.findall(r"^module (\S+?)\(", design_verilog(design, design.parameters.parse(given)).text, re.MULTILINE)


def test_the_number_of_modules_does_not_depend_on_the_number_of_cores():
    assert len(modules(cores=9, window=18)) == len(modules(cores=5, window=10))


def test_cores_of_different_sizes_are_kept_apart():
    names = modules(cores=3, window_r=4, window_s=6)
    assert "handshake_parallel_core" in names
    assert "handshake_parallel_core_2" in names
    assert len(names) == len(set(names))


def test_names_need_no_escaping():
    assert all(re.fullmatch(r"handshake\w*", name) for name in modules(cores=3, window=6, scan="sequential"))
