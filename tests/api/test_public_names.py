"""What ``import streamjoin`` gives, and how little it loads."""

import inspect
import subprocess
import sys
from importlib.metadata import version
from importlib.resources import files

import pytest

import streamjoin

HEAVY = ("amaranth", "numpy", "pyarrow", "pyosys", "streamjoin.hdl", "streamjoin.sim")


def loaded_by(code: str) -> set[str]:
    """The modules that are loaded when a program ends."""
    program = [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"]
    return set(subprocess.run(program, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("code", ["import streamjoin", "import streamjoin; streamjoin.__version__; dir(streamjoin)"])
def test_nothing_heavy_is_loaded(code):
    assert loaded_by(code).isdisjoint(HEAVY)


def test_names_are_loaded_by_those_who_use_them():
    assert "amaranth" in loaded_by("from streamjoin import join")


def test_every_name_is_there_and_documented():
    assert set(streamjoin.__all__) <= set(dir(streamjoin))
    for name in set(streamjoin.__all__) - {"__version__"}:
        assert inspect.getdoc(getattr(streamjoin, name)), name
    assert streamjoin.__version__ == version("streamjoin")
    # A star would bind them all.
    assert set(streamjoin.__all__) <= set(vars(streamjoin))


@pytest.mark.parametrize("name", ["Join", "Run"])
def test_what_users_call_is_documented_and_typed(name):
    kind = getattr(streamjoin, name)
    members = {member: value for member, value in vars(kind).items() if not member.startswith("_")}
    assert members
    for member, value in members.items():
        function = value.fget if isinstance(value, property) else getattr(value, "func", value)
        assert inspect.getdoc(function), member
        assert inspect.signature(function).return_annotation is not inspect.Signature.empty, member


def test_parameters_are_documented_as_they_are_called():
    words = inspect.getdoc(streamjoin.Join.simulate)
    for parameter in list(inspect.signature(streamjoin.Join.simulate).parameters)[1:]:
        assert parameter in words.partition("Parameters")[2].partition("Raises")[0]


def test_types_are_for_others_too():
    assert (files("streamjoin") / "py.typed").is_file()


def test_there_is_no_other_name():
    with pytest.raises(AttributeError, match="module 'streamjoin' has no attribute 'jion'"):
        _ = streamjoin.jion
