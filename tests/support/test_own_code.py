"""What an author's modules are made of: their packages, and what lies beside them; not what is installed."""

import sys

import pytest

from streamjoin.support.own_code import own_code
from tests.outside import add_module


@pytest.fixture
def folder(tmp_path, monkeypatch):
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def test_what_lies_beside_a_module_is_followed(folder):
    add_module(folder, "mine", "import json, numpy\nfrom streamjoin.hdl.base import ports\nimport beside\n")
    add_module(folder, "beside", "def f():\n    from parts.deep import inner\n")
    add_module(folder, "parts.deep.inner", "")
    add_module(folder, "parts.unused", "")
    add_module(folder, "unused", "")
    found = own_code(["mine"])
    assert found.keys() == {"mine", "beside", "parts", "parts.deep", "parts.deep.inner"}
    assert found["parts.deep"] == folder / "parts" / "deep" / "__init__.py"


def test_a_folder_that_does_not_say_that_it_is_a_package(folder):
    (folder / "plain").mkdir()
    (folder / "plain" / "mine.py").write_text("from . import other\n")
    (folder / "plain" / "other.py").write_text("")
    found = own_code(["plain.mine"])
    assert found == {
        "plain": None,
        "plain.mine": folder / "plain" / "mine.py",
        "plain.other": folder / "plain" / "other.py",
    }


def test_what_only_checkers_of_types_read_is_left_out(folder):
    add_module(
        folder,
        "mine",
        "import typing\nif typing.TYPE_CHECKING:\n    import beside\nelse:\n    from other import name\n",
    )
    add_module(folder, "beside", "")
    add_module(folder, "other", "raise RuntimeError('nobody needs to run this')\n")
    assert own_code(["mine"]).keys() == {"mine", "other"}


def test_what_is_installed_beside_a_package_is_others():
    assert {module.partition(".")[0] for module in own_code(["pytest"])} == {"pytest"}
