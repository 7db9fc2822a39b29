"""Designs are found by name, those of installed packages and of modules, too; what cannot be had hinders nobody."""

import pickle
import sys
import warnings
from dataclasses import replace

import pytest

from streamjoin.hdl import registry
from streamjoin.hdl.base.design import Design
from streamjoin.hdl.base.parameters import ParameterError
from streamjoin.hdl.nested_loop.join import NestedLoopJoin
from streamjoin.hdl.nested_loop.parameters import NestedLoopParameters
from streamjoin.hdl.registry import DESIGNS, DesignWarning, find, installed, key_of
from tests.outside import RENAMED, add_entries, add_module


@pytest.fixture
def outside(tmp_path, monkeypatch):
    """A folder that modules are imported from; what was found in it is forgotten."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    registry.installed.cache_clear()
    registry._named.cache_clear()
    yield tmp_path
    registry.installed.cache_clear()
    registry._named.cache_clear()
    for name in set(sys.modules) - before:
        del sys.modules[name]


def names_beside(caught) -> list[str]:
    return [str(warning.message) for warning in caught if warning.category is DesignWarning]


def test_those_of_this_package_are_found_by_name():
    assert {name: find(name) for name in DESIGNS} == DESIGNS
    assert [key_of(design) for design in DESIGNS.values()] == list(DESIGNS)


def test_an_installed_package_adds_its_design(outside):
    add_module(outside, "mine.deep.design", RENAMED.format(name="mine"))
    add_entries(outside, anything="mine.deep.design:DESIGN")
    design = find("mine")
    assert design.summary == "from outside"
    assert installed()["mine"] == design == find("mine.deep.design:DESIGN")
    assert key_of(design) == "mine.deep.design:DESIGN"
    assert "mine.deep.design" in design.sources
    assert design.parameters(preset="paper-001").windows == (512, 512)


def test_what_cannot_be_had_is_told_once_and_hinders_nobody(outside):
    texts = {
        "a_broken": "import nothing_of_this_name",
        "b_ends": "raise SystemExit(3)",
        "c_no_design": "DESIGN = 5",
        "d_built_in": RENAMED.format(name="handshake"),
        "e_empty": "",
        "f_name": RENAMED.format(name="My Design"),
        "g_right": RENAMED.format(name="right"),
        "h_again": RENAMED.format(name="right"),
    }
    for module, text in texts.items():
        add_module(outside, module, text)
    add_entries(outside, **{module: f"{module}:DESIGN" for module in texts})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert list(installed())[: len(DESIGNS)] == list(DESIGNS)
        assert find("right").found_as == "g_right:DESIGN"
        installed()
    said = names_beside(caught)
    reasons = {
        "a_broken": "ModuleNotFoundError: No module named 'nothing_of_this_name'",
        "b_ends": "SystemExit: 3",
        "c_no_design": "TypeError: it is not a Design",
        "d_built_in": "ValueError: it calls itself handshake, which is built in: rename it",
        "e_empty": "AttributeError: module 'e_empty' has no attribute 'DESIGN'",
        "f_name": "ValueError: a design is named like tiny-join, in small letters and digits, not 'My Design'",
        "h_again": "ValueError: there is another one called right",
    }
    ours = [text for text in said if any(f"{module}:" in text for module in texts)]
    assert ours == [f"the design {name} of {name}:DESIGN is left out ({why})" for name, why in reasons.items()]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit", "SystemExit"),
        ("DESIGN = 'handshake'", "TypeError: it is not a Design"),
        (RENAMED.format(name="llhj"), "ValueError: it calls itself llhj, which is built in: rename it"),
    ],
)
def test_a_module_whose_design_cannot_be_had_is_refused(outside, text, sentence):
    add_module(outside, "mine", text)
    with pytest.raises(ParameterError) as refusal:
        find("mine:DESIGN")
    assert str(refusal.value).startswith(f"the design 'mine:DESIGN' cannot be loaded ({sentence}")


def test_a_design_that_refuses_its_own_defaults_is_left_out(outside):
    refuses = (
        "from dataclasses import dataclass, replace\n"
        "from streamjoin.hdl.nested_loop.design import DESIGN as NESTED_LOOP\n"
        "from streamjoin.hdl.nested_loop.parameters import NestedLoopParameters\n"
        "@dataclass(frozen=True, kw_only=True)\n"
        "class Refusing(NestedLoopParameters):\n"
        "    depth: int = 0\n"  # a field without a meaning will do, but not this value
        "DESIGN = replace(NESTED_LOOP, name='mine', parameters_type=Refusing)\n"
    )
    add_module(outside, "mine", refuses)
    with pytest.raises(ParameterError, match="ParameterError: depth must be a whole number from 1 up, not 0"):
        find("mine:DESIGN")
    add_module(outside, "mended", refuses.replace("= 0", "= 3"))
    assert find("mended:DESIGN").parameters(depth="4").depth == 4


def test_a_name_that_nobody_has():
    with pytest.raises(ParameterError, match=r"there is no design 'nested'; there are .*nested-loop.*, module:NAME"):
        find("nested")
    with pytest.raises(ParameterError, match="No module named 'no_such_module'"):
        find("no_such_module:DESIGN")


def test_a_design_that_the_registry_has_not_found_has_no_key():
    design = Design("mine", "from outside", NestedLoopParameters, NestedLoopJoin)
    for stranger in (design, replace(find("llhj"), component=NestedLoopJoin)):
        with pytest.raises(ParameterError, match=f"other processes cannot find the design {stranger.name}: take find"):
            key_of(stranger)


def test_a_design_goes_to_other_processes_by_its_name(outside):
    add_module(outside, "mine", RENAMED.format(name="mine") + "DESIGN = replace(DESIGN, component=lambda _: None)\n")
    for design in (*DESIGNS.values(), find("mine:DESIGN")):
        assert pickle.loads(pickle.dumps(design)) is find(key_of(design))
