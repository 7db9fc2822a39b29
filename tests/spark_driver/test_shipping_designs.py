"""What travels to workers is all that a design from outside needs there, and nothing that is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from streamjoin.hdl.registry import find
from streamjoin.reference.predicates import parse_predicate
from streamjoin.spark_driver.shipping import ship_package
from tests.outside import RENAMED, add_module

ON_A_WORKER = """
import json
from importlib.resources import files
from streamjoin.hdl.registry import find

design = find("travelling.design:DESIGN")
print(design.name, design.parameters(window=3).windows, design.component.__module__)
print(json.loads(files("travelling").joinpath("table.json").read_text()))
"""


@pytest.fixture
def travelling(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    add_module(folder, "travelling.design", "import beside\n" + RENAMED.format(name="mine"))
    (folder / "travelling" / "table.json").write_text("[1, 2]")
    add_module(folder, "beside", "import numpy\nfrom others.deep import inner\n")
    add_module(folder, "others.deep.inner", "")
    add_module(folder, "stays_here", "")
    monkeypatch.syspath_prepend(folder)
    yield find("travelling.design:DESIGN")
    for name in [name for name in sys.modules if name.partition(".")[0] in ("travelling", "beside", "others")]:
        del sys.modules[name]


def shipped(design, folder: Path) -> list[Path]:
    sent: list[str] = []
    folder.mkdir()
    spark = SimpleNamespace(sparkContext=SimpleNamespace(addPyFile=sent.append))
    ship_package(spark, folder, design, parse_predicate("equi"))
    return [Path(path) for path in sent]


def test_a_design_from_outside_travels_with_what_lies_beside_it(travelling, tmp_path):
    package, *outside = shipped(travelling, tmp_path / "sent")
    assert [path.name for path in outside if path.suffix == ".py"] == ["beside.py"]
    assert len(outside) == 3
    there = tmp_path / "there"
    there.mkdir()
    for path in (package, *outside):
        shutil.copy(path, there)
    archives = map(str, there.glob("*.zip"))
    done = subprocess.run(
        [sys.executable, "-c", ON_A_WORKER],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([*archives, str(there)]), "PYTHONSAFEPATH": "1"},
        cwd=there,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout == "mine (3, 3) streamjoin.hdl.nested_loop.join\n[1, 2]\n"


def test_with_a_design_of_ours_this_package_travels_alone(tmp_path):
    (package,) = shipped(find("handshake"), tmp_path / "sent")
    assert package.suffix == ".zip"
